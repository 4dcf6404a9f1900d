-- on each shard
-- For =~= on texts
CREATE INDEX docs_body ON docs USING simhash (body simhash_text_ops);
