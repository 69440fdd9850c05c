# What an extension is, as the system catalogs have it, told without a number that differs between two
# databases: so that of two extensions it can be said what one has and the other has not.
package SnowidCatalog;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(describing differences rights_of_members);

# SQL that defines pg_temp.describe(), which gives a line for each thing that the catalogs say of the
# extension, of its members, and of all that belongs to these (columns, indexes, triggers, row types): every
# column of their rows, definitions, comments, rights and initial rights, dependencies, what is dumped. It
# knows no catalog by name that it need not: the server itself tells which columns refer to which catalog.
sub describing
{
    return <<'SQL';
CREATE FUNCTION pg_temp.name_of(class oid, object oid, sub int DEFAULT 0) RETURNS text
  STABLE LANGUAGE sql SET search_path = pg_catalog AS $$
  -- Which table a toast table is of, its dependencies tell.
  SELECT CASE WHEN object = 0 THEN 'none'
              ELSE o.type || ' ' || coalesce(regexp_replace(o.identity, 'pg_toast_\d+', 'pg_toast_N'), object::text) END
    FROM pg_identify_object(class, object, sub) AS o
$$;

-- What a row of a catalog holds as expressions, or as numbers of columns, as SQL.
CREATE FUNCTION pg_temp.definition_of(class oid, object oid) RETURNS text
  STABLE LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  RETURN CASE class
    WHEN 'pg_proc'::regclass THEN (SELECT pg_get_functiondef(oid) FROM pg_proc WHERE oid = object AND prokind <> 'a')
    WHEN 'pg_class'::regclass THEN (SELECT CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(oid)
      WHEN relkind IN ('i', 'I') AND relnamespace <> 'pg_toast'::regnamespace THEN pg_get_indexdef(oid) END
      FROM pg_class WHERE oid = object)
    WHEN 'pg_rewrite'::regclass THEN pg_get_ruledef(object)
    WHEN 'pg_constraint'::regclass THEN pg_get_constraintdef(object)
    WHEN 'pg_trigger'::regclass THEN pg_get_triggerdef(object)
    WHEN 'pg_statistic_ext'::regclass THEN pg_get_statisticsobjdef(object)
    WHEN 'pg_attrdef'::regclass THEN (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE oid = object)
    WHEN 'pg_policy'::regclass THEN (SELECT concat_ws(' / ', pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
      FROM pg_policy WHERE oid = object) END;
END $$;

CREATE FUNCTION pg_temp.lines(extension name) RETURNS SETOF text
  LANGUAGE plpgsql SET search_path = pg_catalog SET client_min_messages = warning AS $$
DECLARE
  -- What differs between two equal objects: their numbers, where and how large their files are, how far
  -- VACUUM has come; and which numbers their columns have, which the order tells that these are in. The name
  -- is in each line.
  volatile CONSTANT text[] := ARRAY['oid', 'relname', 'relfilenode', 'relpages', 'reltuples', 'relallvisible', 'relallfrozen',
    'relfrozenxid', 'relminmxid', 'relnatts', 'attnum', 'attcacheoff', 'atthasmissing', 'attmissingval', 'adnum',
    'conkey', 'confkey', 'indkey', 'tgattr', 'stxkeys', 'extconfig', 'extcondition', 'classoid', 'objoid', 'objsubid'];
  catalog record;
BEGIN
  DROP TABLE IF EXISTS pg_temp.objects;
  CREATE TEMP TABLE objects AS
    WITH RECURSIVE object (class, id) AS (
      SELECT 'pg_extension'::regclass::oid, oid FROM pg_extension WHERE extname = extension
      UNION SELECT d.classid, d.objid FROM object JOIN pg_depend d ON d.refclassid = class AND d.refobjid = id
      WHERE d.deptype IN ('e', 'i', 'a', 'P', 'S'))
    SELECT class, id, pg_temp.name_of(class, id) AS name FROM object;
  RETURN QUERY SELECT name || ' exists' FROM pg_temp.objects;
  RETURN QUERY SELECT name || ': definition = ' || pg_temp.definition_of(class, id) FROM pg_temp.objects
    WHERE pg_temp.definition_of(class, id) <> '';
  RETURN QUERY SELECT name || ': depends (' || d.deptype::text || ') on ' || pg_temp.name_of(d.refclassid, d.refobjid, d.refobjsubid)
    || CASE WHEN d.objsubid > 0 THEN ', its ' || pg_temp.name_of(class, id, d.objsubid) ELSE '' END
    FROM pg_temp.objects JOIN pg_depend d ON d.classid = class AND d.objid = id;
  RETURN QUERY SELECT name || ': concerns (' || d.deptype::text || ') ' || pg_temp.name_of(d.refclassid, d.refobjid)
    FROM pg_temp.objects JOIN pg_shdepend d ON d.classid = class AND d.objid = id
    WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
  RETURN QUERY SELECT pg_temp.name_of(class, id, d.objsubid) || ': comment = ' || d.description
    FROM pg_temp.objects JOIN pg_description d ON d.classoid = class AND d.objoid = id;
  RETURN QUERY SELECT pg_temp.name_of(class, id, p.objsubid) || ': initial rights = ' || p.privtype::text || ' '
    || (SELECT string_agg(item::text, ' ' ORDER BY item::text) FROM unnest(p.initprivs) item)
    FROM pg_temp.objects JOIN pg_init_privs p ON p.classoid = class AND p.objoid = id;
  RETURN QUERY SELECT pg_temp.name_of(class, id, s.objsubid) || ': security label = ' || s.provider || ' ' || s.label
    FROM pg_temp.objects JOIN pg_seclabel s ON s.classoid = class AND s.objoid = id;
  RETURN QUERY SELECT 'dumped: ' || c::regclass || ' where ' || x.extcondition[n]
    FROM pg_extension x, unnest(x.extconfig) WITH ORDINALITY AS u (c, n) WHERE x.extname = extension;
  RETURN QUERY SELECT pg_temp.name_of('pg_class'::regclass, attrelid) || ': columns = ' || string_agg(attname, ', ' ORDER BY attnum)
    FROM pg_attribute JOIN pg_temp.objects ON class = 'pg_class'::regclass AND id = attrelid
    WHERE attnum > 0 AND NOT attisdropped GROUP BY attrelid;

  -- Every other column of each row that is an object's own, or that one of its rows begins with.
  FOR catalog IN
    SELECT c.oid::regclass AS name, c.oid AS class, f.fkcols[1] AS owner, f.pktable AS owners
      FROM pg_class c
      LEFT JOIN pg_attribute o ON o.attrelid = c.oid AND o.attname = 'oid' AND NOT o.attisdropped
      LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = CASE c.relname WHEN 'pg_enum' THEN 2 ELSE 1 END
      LEFT JOIN pg_get_catalog_foreign_keys() f ON f.fktable = c.oid AND f.fkcols = ARRAY[a.attname::text]
     WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND c.relname !~ '^pg_statistic'
       AND (o.attname IS NOT NULL OR f.fkcols IS NOT NULL)
  LOOP
    RETURN QUERY EXECUTE format($query$
      SELECT o.name || coalesce(' ' || (to_jsonb(t) ->> 'attname'), '') || ': ' || k.key || ' = ' || coalesce(
          (SELECT string_agg(CASE WHEN r ~ '^\d+$' THEN pg_temp.name_of(f.pktable, r::oid) ELSE r END, ', ' ORDER BY n)
             FROM pg_get_catalog_foreign_keys() f, regexp_split_to_table(btrim(k.value, '{}[]'), '[, "]+')
                  WITH ORDINALITY AS refs (r, n)
            WHERE f.fktable = %1$L::regclass AND f.fkcols = ARRAY[k.key] AND f.pkcols = ARRAY['oid'] AND r <> ''),
          CASE WHEN a.atttypid = 'aclitem[]'::regtype
               THEN (SELECT string_agg(item, ' ' ORDER BY item) FROM unnest(k.value::text[]) item) END,
          -- Some builds of the server note by themselves how old a column is.
          regexp_replace(k.value, '^[{]pg_attver=\d+[}]$', '{}'))
        FROM %1$s t
        JOIN pg_temp.objects o ON o.class = %2$L AND o.id = t.%3$I
       CROSS JOIN jsonb_each(to_jsonb(t)) AS j (key, item)
       CROSS JOIN LATERAL (SELECT j.key, CASE WHEN jsonb_typeof(item) = 'array'
           THEN (SELECT array_agg(e)::text FROM jsonb_array_elements_text(item) e) ELSE item #>> '{}' END) AS k (key, value)
        JOIN pg_attribute a ON a.attrelid = %1$L::regclass AND a.attname = k.key
       WHERE k.value IS NOT NULL AND a.atttypid <> 'pg_node_tree'::regtype AND k.key <> ALL ($1)
         AND NOT coalesce((to_jsonb(t) ->> 'attisdropped')::boolean OR (to_jsonb(t) ->> 'attnum')::int < 0, false)
      $query$, catalog.name, coalesce(catalog.owners, catalog.class)::oid, coalesce(catalog.owner, 'oid'))
      USING volatile;
  END LOOP;
  DROP TABLE pg_temp.objects;
END $$;

-- One line each.
CREATE FUNCTION pg_temp.describe(extension name) RETURNS SETOF text LANGUAGE sql SET search_path = pg_catalog AS
  $$ SELECT replace(line, E'\n', '\n') FROM pg_temp.lines(extension) AS line $$;
SQL
}

# What two descriptions, each as psql shows it, do not have in common: lines of the first with "- ", lines of
# the second with "+ ".
sub differences
{
    my (@descriptions) = @_;
    my %balance;
    my @signs = (-1, 1);
    foreach my $description (@descriptions)
    {
        my $sign = shift @signs;
        $balance{$_} += $sign foreach split /\n/, $description;
    }
    return map { ($balance{$_} < 0 ? '- ' : '+ ') . $_ } grep { $balance{$_} } sort keys %balance;
}

# SQL that tells owners and rights of the extension's members.
sub rights_of_members
{
    return <<'SQL';
SELECT i.type, i.identity, o.owner::regrole, ARRAY(SELECT a::text FROM unnest(o.acl) AS a ORDER BY 1),
    ARRAY(SELECT a::text FROM unnest(coalesce(p.initprivs, CASE d.classid WHEN 'pg_type'::regclass THEN o.acl END)) AS a ORDER BY 1)
  FROM pg_extension AS e
  JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS i
  CROSS JOIN LATERAL (SELECT proowner AS owner, proacl AS acl FROM pg_proc WHERE d.classid = 'pg_proc'::regclass AND oid = d.objid
    UNION ALL SELECT relowner, relacl FROM pg_class WHERE d.classid = 'pg_class'::regclass AND oid = d.objid
    UNION ALL SELECT typowner, coalesce(typacl, acldefault('T', typowner)) FROM pg_type WHERE d.classid = 'pg_type'::regclass AND oid = d.objid
    UNION ALL SELECT oprowner, NULL FROM pg_operator WHERE d.classid = 'pg_operator'::regclass AND oid = d.objid
    UNION ALL SELECT opcowner, NULL FROM pg_opclass WHERE d.classid = 'pg_opclass'::regclass AND oid = d.objid
    UNION ALL SELECT opfowner, NULL FROM pg_opfamily WHERE d.classid = 'pg_opfamily'::regclass AND oid = d.objid
    UNION ALL SELECT nspowner, nspacl FROM pg_namespace WHERE d.classid = 'pg_namespace'::regclass AND oid = d.objid) AS o
  LEFT JOIN pg_init_privs AS p ON p.classoid = d.classid AND p.objoid = d.objid
 WHERE e.extname = 'snowid' ORDER BY 1, 2
SQL
}

1;
