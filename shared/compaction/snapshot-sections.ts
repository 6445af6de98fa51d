/** The sections of a snapshot, in the order in which they are written. */
export const sectionNames = [
  'overall_goal',
  'active_constraints',
  'key_knowledge',
  'artifact_trail',
  'file_system_state',
  'recent_actions',
  'task_state',
] as const;

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
