/** UTF-16 units of a uid: what Firebase gives out, and what an app's own server may. */
const UID_MAX_CHARACTERS = 128;

/**
 * Why nothing can be stored for a user of this id, as the end of a sentence; undefined: it can. Any other character
 * may stand in one (`userPath`).
 */
export function uidFault(uid: string): string | undefined {
  if (uid === '') return 'is empty';
  if (uid.length > UID_MAX_CHARACTERS)
    return `has ${uid.length} characters; at most ${UID_MAX_CHARACTERS} are taken`;
  return uid.isWellFormed() ? undefined : 'holds half of a surrogate pair';
}
