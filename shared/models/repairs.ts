import { z } from 'zod';

/** What can be wrong with a history that a model is to be sent. */
const repairKinds = [
  /** A role that the protocol does not know, or a call or response on the wrong side. */
  'role',
  /** A part without anything in it, or a content without parts. */
  'empty',
  /** Two payloads in one part, of which one may stand. */
  'payload',
  /** A function name that no declaration can have. */
  'name',
  /** Half of a surrogate pair. */
  'surrogate',
  'orphanCall',
  'orphanResponse',
  /** A response under another id than its call. */
  'id',
  /** Responses in another order than their calls, or among other words. */
  'order',
  /** Neighbours of one role. */
  'joined',
  /** The history began with the model. */
  'opening',
  /** The history ended with the model. */
  'ending',
  /** A call of the turn that is being answered had lost its signature. */
  'signature',
] as const;
type RepairKind = (typeof repairKinds)[number];

/** How often each kind was mended; kinds that were not are absent. */
export const repairsSchema = z.partialRecord(z.enum(repairKinds), z.number().int().positive());
export type Repairs = z.infer<typeof repairsSchema>;

/** Both together, or the one that is there. */
export function addRepairs(one: Repairs | undefined, other: Repairs | undefined) {
  const sum = countRepairs(one);
  for (const kind of repairKinds) sum.add(kind, other?.[kind] ?? 0);
  return sum.total();
}

/** Counts repairs while a history is mended, on top of those `before`. */
export function countRepairs(before?: Repairs) {
  const counts: Repairs = { ...before };
  return {
    add(kind: RepairKind, times = 1): void {
      if (times > 0) counts[kind] = (counts[kind] ?? 0) + times;
    },
    /** Undefined where nothing was mended. */
    total: (): Repairs | undefined => (Object.keys(counts).length > 0 ? counts : undefined),
  };
}
export type RepairCounter = ReturnType<typeof countRepairs>;
