-- The node's own number, which is 0 where it stands alone. A view says what it is, and why.
SELECT * FROM snowid.node_status;
SET snowid.default_shard = 6;
SELECT * FROM snowid.node_status;
SET snowid.default_shard = ' 9223372036854775807 ';
SELECT * FROM snowid.node_status;
RESET snowid.default_shard;

-- A membership that a crash would empty gives no number.
BEGIN;
ALTER SEQUENCE snowid_internal.membership_page SET UNLOGGED;
SELECT attempt('SELECT snowid.check_node()');
ROLLBACK;
