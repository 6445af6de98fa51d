import type { Write } from '../ports/ports.ts';
import { utf8Length } from './names.ts';

/** Below the store's limits of a commit: 500 writes, 3.5 MiB. */
export const BATCH_WRITES = 400;
export const BATCH_BYTES = 3 * 1024 * 1024;
/** What a write takes beside its JSON, bytes; generous. */
const WRITE_BYTES = 300;

/** About what a creation takes of a commit, rather too much. */
export const creationBytes = ({ path, fields }: Extract<Write, { op: 'create' }>): number =>
  WRITE_BYTES + utf8Length(path) + utf8Length(JSON.stringify(fields));

const writeBytes = (write: Write) => (write.op === 'create' ? creationBytes(write) : WRITE_BYTES);

/**
 * Groups of writes, in their order, as many in a batch as one commit takes; a group is never divided. A group that is
 * too large stands alone, and the store refuses it.
 */
export async function* inBatches<Group extends { writes: readonly Write[] }>(
  groups: AsyncIterable<Group>,
): AsyncGenerator<{ groups: readonly Group[]; isLast: boolean }> {
  let batch: Group[] = [];
  let writes = 0;
  let bytes = 0;
  for await (const group of groups) {
    const groupBytes = group.writes.reduce((sum, write) => sum + writeBytes(write), 0);
    writes += group.writes.length;
    bytes += groupBytes;
    if (batch.length > 0 && (writes > BATCH_WRITES || bytes > BATCH_BYTES)) {
      yield { groups: batch, isLast: false };
      batch = [];
      writes = group.writes.length;
      bytes = groupBytes;
    }
    batch.push(group);
  }
  yield { groups: batch, isLast: true };
}
