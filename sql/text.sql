-- IDs in base 62: eleven characters, in the numbers' order.

SELECT id, snowid_to_base62(id) AS text_form, snowid_from_base62(snowid_to_base62(id)) = id AS same
  FROM unnest(ARRAY[-9223372036854775808, -9223372036854775807, -1, 0, 1, 9, 10, 35, 36, 61, 62,
                    9007199254740992, 11637205501278089, 9223372036854775806,
                    9223372036854775807]) id;

-- There and back over the whole range, and in the same order.
CREATE TEMP TABLE forms AS
  SELECT id, snowid_to_base62(id) AS text_form
    FROM (SELECT n * 18446744073709551 + n * n AS id FROM generate_series(-499::bigint, 499) n
          UNION SELECT n FROM generate_series(-200::bigint, 200) n
          UNION SELECT 9223372036854775807 - n FROM generate_series(0::bigint, 100) n
          UNION SELECT -9223372036854775808 + n FROM generate_series(0::bigint, 100) n) ids;
SELECT count(*) > 1500 AS enough,
       count(*) FILTER (WHERE snowid_from_base62(text_form) <> id) AS wrong,
       count(*) FILTER (WHERE text_form !~ '^[0-9A-Za-z]{11}$') AS of_another_form,
       count(*) - count(DISTINCT text_form) AS alike
  FROM forms;
SELECT array_agg(id ORDER BY id) = array_agg(id ORDER BY text_form COLLATE "C") AS in_order FROM forms;

-- What is no text form.
SELECT form, attempt(format('SELECT snowid_from_base62(%L)', form))
  FROM unnest(ARRAY['', '0', '0000000000', '000000000000', ' AzL8n0Y58m8', 'AzL8n0Y58m8 ',
                    'AzL8n0Y58m ', ' zL8n0Y58m8', 'AzL8n-Y58m8', 'AzL8n+Y58m8', 'AzL8n_Y58m8',
                    '/0000000000', ':0000000000', '@0000000000', '[0000000000', '`0000000000',
                    '{0000000000', '''0000000000', '%s%s%s%s%s%', E'AzL8n0Y58m\n',
                    '{LygHa16AHY', 'zzzzzzzzzz_', 'LygHa16AHYG', 'M0000000000', 'zzzzzzzzzzz',
                    'LygHa16AHYF']) form;
-- In characters of more than a byte: eleven bytes, and eleven characters.
SELECT octet_length(form) AS bytes, length(form) AS characters,
       replace(attempt(format('SELECT snowid_from_base62(%L)', form)), form, 'FORM')
  FROM unnest(ARRAY[U&'AzL8n0Y58\00E9', U&'AzL8n0Y5\20AC', U&'AzL8n0\FF11\00E9', U&'AzL8n0Y\+01F600',
                    U&'AzL8n0Y58m\0660',
                    U&'\FF10\FF10\FF10\FF10\FF10\FF10\FF10\FF10\FF10\FF10\FF10']) form;
-- One that is stored compressed, beside one that is not.
CREATE TEMP TABLE stored (form text);
INSERT INTO stored VALUES (repeat('0', 100000)), ('AzL8n0Y58m9');
SELECT length(attempt('SELECT snowid_from_base62(form) FROM stored')) > 100000 AS refused;
SELECT snowid_from_base62(form) FROM stored WHERE length(form) = 11;

-- NULL in gives NULL out.
SELECT snowid_to_base62(NULL) IS NULL AND snowid_from_base62(NULL) IS NULL AS null;

-- A generated column, and a look-up by it.
CREATE TEMP TABLE links (
  id bigint PRIMARY KEY,
  slug text COLLATE "C" GENERATED ALWAYS AS (snowid_to_base62(id)) STORED UNIQUE);
INSERT INTO links VALUES (11637205501278089), (-1), (0);
SELECT id, slug FROM links ORDER BY slug;
SELECT id FROM links WHERE id = snowid_from_base62('B0CRIXKjCuH');
DROP TABLE forms, stored, links;
