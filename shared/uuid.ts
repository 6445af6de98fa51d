const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id of a client's choice: a UUID in lower case, because it is the same one in capitals; a name as it is. */
export const toLowerUuid = (id: string): string => (UUID.test(id) ? id.toLowerCase() : id);

/** The entry that an id names. */
export const findById = <Entry extends { id: string }>(
  entries: readonly Entry[],
  id: string,
): Entry | undefined => entries.find((entry) => entry.id === toLowerUuid(id));
