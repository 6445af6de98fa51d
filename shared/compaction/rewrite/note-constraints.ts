import { indexFacts } from '../facts/index/fact-index.ts';
import { isSentenceHeld } from '../facts/index/line-index.ts';
import type { SnapshotSections } from '../snapshot/snapshot-sections.ts';

/**
 * The sections with those rules as knowledge that `notes` of hooks say and `others`, all else that the summariser read,
 * do not: no note makes a constraint. Heuristic: a rule in other words than the note's stays.
 */
export function withoutNoteConstraints(
  sections: SnapshotSections,
  { notes, others }: { notes: readonly string[]; others: () => readonly string[] },
): SnapshotSections {
  if (notes.length === 0 || sections.active_constraints === '') return sections;
  const [noted, said] = [indexFacts(notes).lines(), indexFacts(others()).lines()];
  const isOfNote = (line: string) => isSentenceHeld(line, noted) && !isSentenceHeld(line, said);
  const lines = sections.active_constraints.split('\n');
  const moved = lines.filter(isOfNote);
  return {
    ...sections,
    active_constraints: lines.filter((line) => !isOfNote(line)).join('\n'),
    key_knowledge: [sections.key_knowledge, ...moved].filter((line) => line !== '').join('\n'),
  };
}
