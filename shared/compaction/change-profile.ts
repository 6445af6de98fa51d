import {
  snapshotSections,
  type ArchivedItem,
  type Item,
  type Snapshot,
  type SnapshotProfile,
} from '#shared/conversation/documents/snapshot.ts';

/** Where the items of a section go that the other profile does not have. */
const otherSection: Readonly<Record<SnapshotProfile, Readonly<Record<string, string>>>> = {
  assistant: { artifact_trail: 'artifacts', file_system_state: 'artifacts' },
  coding: {
    user_profile: 'key_knowledge',
    decisions: 'key_knowledge',
    open_questions: 'task_state',
    artifacts: 'artifact_trail',
  },
};

/** The same items in the sections of `profile`: conversations change theirs, and strategies differ. */
export function inProfile(snapshot: Snapshot, profile: SnapshotProfile): Snapshot {
  if (snapshot.profile === profile) return snapshot;
  const known: readonly string[] = snapshotSections[profile];
  const placeOf = (section: string): string =>
    known.includes(section) ? section : (otherSection[profile][section] ?? 'key_knowledge');
  const sections: Record<string, Item[]> = {};
  for (const section of snapshotSections[snapshot.profile])
    for (const item of snapshot.sections[section] ?? [])
      (sections[placeOf(section)] ??= []).push(item);
  const archive = snapshot.archive.map((item): ArchivedItem => ({
    ...item,
    section: placeOf(item.section),
  }));
  return { ...snapshot, profile, sections, archive };
}
