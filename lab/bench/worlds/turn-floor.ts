import { randomUUID } from 'node:crypto';
import type { Write } from '#shared/ports/ports.ts';
import type { EmulatedChat } from './emulated-chat.ts';
import type { TurnWork } from './one-turn.ts';

const fieldsOf = (write: Write) => ('fields' in write ? write.fields : {});

/**
 * The least that a stored turn can cost: one read of as many documents as `turn` read, then its batches with the
 * same fields, by Google's client alone and without guards. Resolves to ms.
 */
export async function floorMs({ raw }: EmulatedChat, turn: TurnWork): Promise<number> {
  const folder = raw.collection(`floor/${randomUUID()}/documents`);
  const read = Array.from({ length: turn.reads }, (_, index) => folder.doc(`read-${index}`));
  const startedAt = performance.now();
  if (read.length > 0) await raw.getAll(...read);
  for (const writes of turn.batches) {
    const batch = raw.batch();
    for (const write of writes) batch.set(folder.doc(), fieldsOf(write));
    await batch.commit();
  }
  return performance.now() - startedAt;
}
