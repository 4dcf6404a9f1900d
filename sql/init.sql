--
-- The extension, for all tests that follow
--
CREATE EXTENSION simhash;
