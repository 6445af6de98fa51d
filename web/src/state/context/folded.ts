import type { CompactionRecordView } from '#shared/wire/responses/compaction.ts';

/** How far the present snapshot reaches. */
interface Folded {
  generation: number;
  /** Last turn that it stands in for; 0: none. */
  upTo: number;
}

/** What the present generation stands in for; the newest record that made one tells. */
export function toFolded(compactions: readonly CompactionRecordView[]): Folded {
  const made = compactions.filter(({ generation }) => generation !== undefined);
  const newest = made.toSorted((one, other) => (other.generation ?? 0) - (one.generation ?? 0))[0];
  return { generation: newest?.generation ?? 0, upTo: newest?.upTo ?? 0 };
}
