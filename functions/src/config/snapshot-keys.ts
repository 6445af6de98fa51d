/** A key that signs snapshots. Never logged. */
export interface SnapshotKey {
  /** Stands in every document that the key signed; letters, digits, `_`, `.` and `-`. */
  keyId: string;
  secret: Uint8Array;
}

/** As long as the hash: RFC 2104 advises against shorter ones. */
const SECRET_BYTES_MIN = 32;

const KEY = /^([\w.-]{1,64}):([A-Za-z0-9+/]+={0,2})$/;

/** What a project on this machine signs with: it protects nothing, and needs no setting. */
export const localSnapshotKeys: readonly SnapshotKey[] = [
  { keyId: 'local', secret: Buffer.from('recap-local-snapshot-signing-key') },
];

/**
 * Reads `keyId:base64,keyId2:base64`. Throws Error whose message says which entry is wrong, by its place,
 * and nothing of its text.
 */
export function readSnapshotKeys(text: string): readonly SnapshotKey[] {
  if (text.trim() === '') return [];
  const keys = text.split(',').map((entry, index): SnapshotKey => {
    const [, keyId = '', base64 = ''] = KEY.exec(entry.trim()) ?? [];
    const place = `key ${index + 1}`;
    if (keyId === '') throw new Error(`${place} is not written as keyId:base64`);
    const secret = Buffer.from(base64, 'base64');
    if (secret.length < SECRET_BYTES_MIN)
      throw new Error(`${place} has fewer than ${SECRET_BYTES_MIN} bytes`);
    return { keyId, secret };
  });
  if (new Set(keys.map(({ keyId }) => keyId)).size < keys.length)
    throw new Error('two keys have the same id');
  return keys;
}
