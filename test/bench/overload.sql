-- One of several sessions that draw from one shard as fast as they can, some 4,000 ms' worth of IDs
-- together. Keeps how many it got with each millisecond in them. Needs the psql variables `round`
-- and `sessions`.

SET snowid.max_lead = 0;
INSERT INTO overload
  SELECT :round, id >> 23, count(*)
  FROM (SELECT snowid_next(:round) AS id FROM generate_series(1, 4000 * 1024 / :sessions)) AS drawn
  GROUP BY 2;
