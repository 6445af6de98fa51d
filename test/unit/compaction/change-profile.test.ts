import { inProfile } from '#shared/compaction/prompt.ts';
import { emptySnapshot, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { snapshotTexts } from '#test/support/chat/lifecycle.ts';
import { item } from '#test/support/compaction/engine-samples.ts';
import { expect, test } from 'vitest';

const coding: Snapshot = {
  ...emptySnapshot('coding'),
  sections: {
    active_constraints: [item('i1', 'Never push.')],
    artifact_trail: [item('i2', 'Wrote a.ts.')],
    file_system_state: [item('i3', 'b.ts is gone.')],
  },
  archive: [{ ...item('i4', 'Read c.ts.'), section: 'file_system_state' }],
  nextId: 5,
};

test('changing the profile keeps every item, in a section of the new profile', () => {
  const changed = inProfile(coding, 'assistant');

  expect(changed.sections).toEqual({
    active_constraints: [item('i1', 'Never push.')],
    artifacts: [item('i2', 'Wrote a.ts.'), item('i3', 'b.ts is gone.')],
  });
  expect(changed.archive).toEqual([{ ...item('i4', 'Read c.ts.'), section: 'artifacts' }]);
  expect(snapshotTexts(changed)).toEqual(snapshotTexts(coding));
});
