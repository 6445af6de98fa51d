import { expect, it } from 'vitest';
import { parseCases } from './agent-cases.ts';
import { casesTable } from './cases-page.ts';
import { runCase } from './run-cases.ts';

/** A case of one or two messages, in the form of Genkit's file. */
const writtenCase = (agent: string, steps: string) =>
  `tests:\n  - name: written here\n    agent: ${agent}\n    steps:\n${steps}`;

const send = (said: string, expected: string) => `
      - type: send
        inputs:
          - message: { role: user, content: [{ text: hello }] }
        modelResponses:
          - message: { role: model, content: [{ text: ${said} }] }
            finishReason: stop
        expectOutput: ${expected}
        captureSnapshotId: one
`;

async function verdict(agent: string, steps: string) {
  const [written] = parseCases(writtenCase(agent, steps));
  if (!written) throw new Error('there is no case');
  return runCase(written);
}

it.concurrent('an agent case passes when the answer that it orders comes', async () => {
  const steps = send('moo', '{ message: { role: model, content: [{ text: moo }] } }');
  expect((await verdict('promptAgentWithStore', steps)).mark).toBe('✔');
});

it.concurrent('an agent case does not pass when another answer comes', async () => {
  const steps = send('moo', '{ message: { role: model, content: [{ text: baa }] } }');
  const { mark, why } = await verdict('promptAgentWithStore', steps);
  expect(mark).toBe('✘');
  expect(why).toContain('step 1 (send)');
  expect(why).toContain('baa');
});

it.concurrent('an agent case does not pass when an abort finds another status', async () => {
  const steps = `${send('moo', '{}')}
      - type: abort
        snapshotId: '{{one}}'
        expectPreviousStatus: pending`;
  expect(await verdict('promptAgentWithStore', steps)).toMatchObject({
    mark: '✘',
    why: 'step 2 (abort): the status before was completed, not pending',
  });
});

it.concurrent('an agent case does not pass when a snapshot has another state', async () => {
  const steps = `${send('moo', '{}')}
      - type: getSnapshotData
        snapshotId: '{{one}}'
        expectSnapshot:
          status: completed
          stateContains:
            messages:
              - { role: model, content: [{ text: moo }] }
              - { role: user, content: [{ text: hello }] }`;
  const { mark, why } = await verdict('promptAgentWithStore', steps);
  expect({ mark, why }).toMatchObject({ mark: '✘', why: expect.stringContaining('is not in') });
});

it.concurrent('an agent case with fields that nobody knows is not applicable', async () => {
  const { mark, why } = await verdict('promptAgent', '      - { type: send, expectMoon: full }');
  expect(mark).toBe('not applicable');
  expect(why).toContain('expectMoon');
});

it('the table of agent cases counts each mark', () => {
  const table = casesTable([
    { name: 'one', mark: '✔', why: '' },
    { name: 'two', mark: '✘', why: 'a | b' },
  ]);
  expect(table).toContain('| two | ✘ | a \\| b |');
  expect(table).toContain('2 cases: 1 ✔, 1 ✘, 0 not applicable.');
});
