import { expect, test } from 'vitest';
import { faultKinds } from '#infra/fake-gemini/server/faults.ts';
import { vicesSchema } from '#infra/fake-gemini/server/misbehaviour.ts';
import { readText } from './named-tests.ts';

const controls = [
  ...(await readText('infra/fake-gemini/server/control.ts')).matchAll(
    /'[A-Z]+ (\/control\/\w+)'/gu,
  ),
].map(([, path = '']) => path);

test.each([
  ['Misbehaviour', Object.keys(vicesSchema.shape)],
  ['Faults', [...faultKinds]],
  ['Controls', [...new Set(controls)]],
])(
  'the guide to the fake Gemini lists under %s all that the code takes',
  async (heading, names) => {
    const guide = await readText('docs/guides/fake-gemini.md');
    const section = guide.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';

    const cells = [...section.matchAll(/^- `(?:[A-Z]+ )?([^`]+)`: /gmu)].map(
      ([, cell = '']) => cell,
    );

    expect([...new Set(cells)].toSorted()).toEqual(names.toSorted());
  },
);
