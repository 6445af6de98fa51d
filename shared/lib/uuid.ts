const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id of a client's choice: a UUID in lower case, because it is the same one in capitals; a name as it is. */
export const toLowerUuid = (id: string): string => (UUID.test(id) ? id.toLowerCase() : id);

/** The entry that an id names. */
export const findById = <Entry extends { id: string }>(
  entries: readonly Entry[],
  id: string,
): Entry | undefined => entries.find((entry) => entry.id === toLowerUuid(id));

/**
 * The UUID that stands for a name of another system, always the same one for the same `names`. Shaped as
 * version 4, which conversation ids have to be; its other bits are those of a SHA-256, so nobody finds two
 * lists of names with one UUID.
 */
export function stableUuid(sha256: (text: string) => string, names: readonly string[]): string {
  const hex = sha256(JSON.stringify(names));
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
