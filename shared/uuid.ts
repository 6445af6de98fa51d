const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id of a client's choice: a UUID in lower case, because it is the same one in capitals; a name as it is. */
export const toLowerUuid = (id: string): string => (UUID.test(id) ? id.toLowerCase() : id);

/** The entry that an id names: earlier releases stored UUIDs as they came, so any of the two may be in capitals. */
export function findById<Entry extends { id: string }>(
  entries: readonly Entry[],
  id: string,
): Entry | undefined {
  const same = toLowerUuid(id);
  return (
    entries.find((entry) => entry.id === id) ??
    entries.find((entry) => toLowerUuid(entry.id) === same)
  );
}

/** The id as its entry has it; where there is none yet, as a new one gets it. */
export const idAmong = (entries: readonly { id: string }[], id: string): string =>
  findById(entries, id)?.id ?? toLowerUuid(id);
