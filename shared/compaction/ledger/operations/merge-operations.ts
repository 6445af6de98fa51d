import type { Operation } from '../prompt/operation.ts';

/** The item that an operation changes or ends. */
const targetOf = (operation: Operation): string | undefined =>
  operation.op === 'add' ? undefined : operation.id;

/** By item: the chunk whose operations on it hold. The last that updates it, else the last that removes it. */
function winners(chunks: readonly (readonly Operation[])[]): Map<string, number> {
  const updating = new Map<string, number>();
  const removing = new Map<string, number>();
  for (const [index, operations] of chunks.entries())
    for (const operation of operations) {
      if (operation.op === 'update') updating.set(operation.id, index);
      else if (operation.op === 'remove') removing.set(operation.id, index);
    }
  return new Map([...removing, ...updating]);
}

/**
 * The operations of chunks that were read side by side, as one list in the order of the chunks. Where two
 * chunks change the same item the later one holds; a removal gives way to the update of another chunk,
 * whose turns still speak of it.
 */
export function mergeOperations(chunks: readonly (readonly Operation[])[]): Operation[] {
  const winnerOf = winners(chunks);
  return chunks.flatMap((operations, index) =>
    operations.filter((operation) => {
      const target = targetOf(operation);
      return target === undefined || winnerOf.get(target) === index;
    }),
  );
}
