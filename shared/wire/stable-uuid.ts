import type { Sha256 } from '../ports/ports.ts';

/**
 * The UUID that stands for a name of another system, always the same one for the same `names`. Shaped as
 * version 4, which conversation ids have to be; its other bits are those of a SHA-256, so nobody finds two
 * lists of names with one UUID.
 */
export function stableUuid(sha256: Sha256, names: readonly string[]): string {
  const hex = sha256(JSON.stringify(names));
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
