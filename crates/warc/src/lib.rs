//! WARC 1.1: records of what was asked and answered, one gzip member each, read and written.
