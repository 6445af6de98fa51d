import { fileURLToPath } from 'node:url';
import { describe, expect, test, type TestContext } from 'vitest';
import { startProgram } from './launchers/clients.ts';
import { match } from './judge/match.ts';
import { allScenarios, readScenarios } from './judge/scenario.ts';

const LOST = 'a message whose reply is lost is sent again under the same id and body';
const SILENT = 'a message whose reply does not come is sent again';
const ORDER = 'a message waits until the one before it is taken';
const KILLED = 'a message outlives kill -9 as soon as it is kept';

/** Plays one scenario to the simple client. */
async function playTo(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  defect: string,
  name: string,
): Promise<void> {
  const program = fileURLToPath(new URL('simple-client.ts', import.meta.url));
  const clients = await startProgram(program, [defect]);
  onTestFinished(() => clients.stop());
  const scenario = allScenarios().find((each) => each.name === name);
  if (!scenario) throw new Error(`there is no scenario "${name}"`);
  await clients.play(scenario);
}

describe('the judge of clients', () => {
  test.concurrent.for([LOST, SILENT, ORDER, KILLED])(
    'accepts a client that holds: %s',
    async (name, context) => {
      await expect(playTo(context, '', name)).resolves.toBeUndefined();
    },
  );

  test.concurrent.for([
    ['sends again under another id', 'other id', LOST, /body\.message\.id: expected "\$m1 = /],
    ['sends again with another body', 'other body', LOST, /has another body than before/],
    ['sends what was taken again', 'twice', LOST, /nobody expects POST .*messages/],
    ['does not wait for the message before', 'no order', ORDER, /body\.message\.id: expected/],
    ['waits for a reply for ever', 'no timeout', SILENT, /it did not come; what came: nothing/],
    ['keeps no message', 'keeps nothing', KILLED, /it did not come; what came: nothing/],
  ] as const)('finds a client that %s', async ([, defect, name, reason], context) => {
    await expect(playTo(context, defect, name)).rejects.toThrow(reason);
  });
});

describe('the scenarios of clients', () => {
  test('a typing error is told with its scenario and step', () => {
    const text =
      'send: [{ name: a slip, steps: [{ open: true }, { request: GET messages, replay: {} }] }]';
    expect(() => readScenarios(text)).toThrow(/send, "a slip", step 2: .*"replay"/);
  });

  test('a step of no kind is told', () => {
    const text = 'send: [{ name: a slip, steps: [{ requst: GET messages }] }]';
    expect(() => readScenarios(text)).toThrow('send, "a slip", step 1: no step has requst');
  });

  test('a variable takes what comes first, and is that from then on', () => {
    const given = { variables: new Map(), now: new Date() };
    const first = match({ id: '$m', more: '$absent' }, { id: 'a', other: 1 }, given);
    const second = match([{ id: '$m' }], [{ id: 'b' }], { ...given, variables: first.variables });
    expect(first.problems).toEqual([]);
    expect(second.problems).toEqual(['[0].id: expected "$m = \\"a\\"", came "b"']);
  });
});
