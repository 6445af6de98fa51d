import { describe, expect, test } from 'vitest';
import { createRemotePolicy, REMOTE_POLICY_PATH } from '#functions/config/remote-documents.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { ops } from '#test/support/processes/ops.ts';

const HOOKS = [{ url: 'https://hooks.example.com/a', events: ['preCompact'] }];

/** A deployment whose document holds these fields; without any it has none. */
async function deployment(fields?: DocumentFields) {
  const chat = chatDependencies();
  const { store } = chat;
  if (fields) await store.commit([{ op: 'create', path: REMOTE_POLICY_PATH, fields }]);
  const config = (...argv: string[]) => ops({ chat }, ['config', ...argv]);
  const stored = async () => (await store.get([REMOTE_POLICY_PATH]))[0]?.fields;
  return { chat, config, stored };
}

describe('ops config', () => {
  test('ops config sets fields that the functions then go by, shows both states, and takes fields away', async () => {
    const { chat, config, stored } = await deployment();

    const set = await config(
      'set',
      'thresholdTokens=20000',
      `hooks=${JSON.stringify(HOOKS)}`,
      'variants={"small":{"share":0.1,"thresholdTokens":12000}}',
      '--yes',
    );
    const changed = await config('set', 'thresholdTokens=30000', 'variants=', '--yes');

    expect([set.code, changed.code]).toEqual([0, 0]);
    expect(changed.out).toMatch(/^thresholdTokens +20000 +30000$/m);
    expect(changed.out).toMatch(/^variants +\{.*\} +-$/m);
    expect(await stored()).toEqual({ thresholdTokens: 30_000, hooks: HOOKS });
    const policy = createRemotePolicy({ ...chat, clock: systemClock });
    await policy.refresh();
    expect(policy.current()).toEqual({ thresholdTokens: 30_000 });
    expect(policy.hooks()).toEqual(HOOKS);
  });

  test('ops config changes nothing without --yes', async () => {
    const { config, stored } = await deployment({ thresholdTokens: 20_000 });

    const { code, out } = await config('set', 'thresholdTokens=30000');

    expect(code).toBe(0);
    expect(out).toMatch(/^thresholdTokens +20000 +30000$/m);
    expect(out).toContain('--yes does it');
    expect(await stored()).toEqual({ thresholdTokens: 20_000 });
  });

  test('ops config shows what is set, and names what the functions do not use', async () => {
    const { config } = await deployment({ thresholdTokens: 20_000, thresholdTokenz: 1 });

    const told = await config('show');
    const json = await config('show', '--json');
    const nothing = await (await deployment()).config('show');

    expect(told.out).toMatch(/^thresholdTokens +20000$/m);
    expect(told.out).toContain('not used: thresholdTokenz');
    expect(JSON.parse(json.out)).toMatchObject({ unusable: ['thresholdTokenz'] });
    expect(nothing).toMatchObject({ code: 0, out: 'config/compaction sets nothing\n' });
  });

  test.each([
    ['an unknown field', ['set', 'thresholdTokenz=20000'], '"thresholdTokenz" is no field'],
    ['a field of a prototype', ['set', '__proto__={}'], '"__proto__" is no field'],
    ['a field without a value', ['set', 'thresholdTokens'], '"thresholdTokens" is no field'],
    ['a value that is no JSON', ['set', 'thresholdTokens=many'], 'thresholdTokens is no JSON'],
    ['a threshold below 0', ['set', 'thresholdTokens=-1'], 'thresholdTokens: the functions'],
    ['a text for a number', ['set', 'thresholdTokens="1000"'], 'thresholdTokens: the functions'],
    [
      'an unknown field of a variant',
      ['set', 'variants={"a":{"share":0.1,"tail":1}}'],
      'variants: the functions',
    ],
    [
      'shares above 1',
      ['set', 'variants={"a":{"share":0.6},"b":{"share":0.6}}'],
      'variants: the functions',
    ],
    [
      'a hook without events',
      ['set', 'hooks=[{"url":"https://a.example"}]'],
      'hooks: the functions',
    ],
    ['a model of nonsense', ['set', 'models={"x":{"windowTokens":-1}}'], 'models.x: the functions'],
    ['nothing to set', ['set'], 'config takes show, or set'],
    ['something to show', ['show', 'thresholdTokens=1'], 'config takes show, or set'],
    ['another word', ['get'], 'config takes show, or set'],
  ])('ops config refuses %s and writes nothing', async (_, argv, message) => {
    const { config, stored } = await deployment();

    const { code, err } = await config(...argv, '--yes');

    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(await stored()).toBeUndefined();
  });
});
