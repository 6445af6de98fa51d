import {
  geminiCliSections,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';

/** The sections of a snapshot that a model writes as one text, in the order in which they are written. */
export const sectionNames = geminiCliSections;

export type SectionName = (typeof sectionNames)[number];

/** Plain text by section, not escaped; '' where there is nothing to say. */
export type SnapshotSections = Readonly<Record<SectionName, string>>;

/** A snapshot without content, to build on. */
export const emptySections: SnapshotSections = {
  overall_goal: '',
  active_constraints: '',
  key_knowledge: '',
  artifact_trail: '',
  file_system_state: '',
  recent_actions: '',
  task_state: '',
};

/** The lines of a section, without the marks of a list. */
const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^\s*[-*•]\s+/u, '').trim())
    .filter((line) => line !== '');

/** The typed form of a snapshot that a model wrote as one text: an item a line, none of them with a source. */
export function snapshotOfSections(sections: SnapshotSections): Snapshot {
  let nextId = 1;
  const itemOf = (text: string): Item => ({
    id: `i${nextId++}`,
    text,
    sources: [],
    importance: 2,
    by: 'model',
  });
  const filled = sectionNames.flatMap((name) => {
    const lines = linesOf(sections[name]);
    const items = name === 'overall_goal' ? lines.slice(0, 1).map(() => lines.join(' ')) : lines;
    return items.length > 0 ? [[name, items.map(itemOf)] as const] : [];
  });
  return {
    schemaVersion: 1,
    profile: 'coding',
    sections: Object.fromEntries(filled),
    archive: [],
    nextId,
  };
}
