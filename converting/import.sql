-- Inserts a row into the table notes with an ID of its own time. A sequence is chosen at random; if the ID exists, the
-- next attempt chooses another one, and after 8 attempts one of the next millisecond. A step of docs/converting.md.
CREATE FUNCTION import_note(moment timestamptz, text text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  note_id bigint;
BEGIN
  FOR try IN 0 .. 7999 LOOP
    INSERT INTO notes (id, created_at, body)
      VALUES (snowid_encode(moment + try / 8 * interval '1 ms', 8190, floor(random() * 1024)::bigint), moment, text)
      ON CONFLICT (id) DO NOTHING RETURNING id INTO note_id;
    IF FOUND THEN RETURN note_id; END IF;
  END LOOP;
  RAISE 'no free ID in a second from %', moment;
END $$;
