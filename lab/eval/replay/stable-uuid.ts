import { createHash } from 'node:crypto';

/**
 * A UUID that depends on `seed` alone, shaped as version 4, so that a replay that was cut off can be run
 * again and continues where it was: known messages are replayed by the service, not sent twice.
 */
export function stableUuid(seed: string): string {
  const bytes = createHash('sha256').update(seed).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}
