//! A record is "REC1", the length of a name, and the name.

/// Returns the name in a record, or `None` if it is none.
pub fn name(data: &[u8]) -> Option<&[u8]> {
    let rest = data.strip_prefix(b"REC1")?;
    let (&length, rest) = rest.split_first()?;
    if cfg!(feature = "mended") {
        return rest.get(..length as usize);
    }
    Some(&rest[..length as usize]) // the bug: the name may be shorter
}
