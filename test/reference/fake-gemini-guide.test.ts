import { expect, test } from 'vitest';
import { faultSchema } from '#infra/fake-gemini/server/faults.ts';
import { vicesSchema } from '#infra/fake-gemini/server/misbehaviour.ts';
import { readText } from './named-tests.ts';

const listedNames = (guide: string, heading: string): string[] => {
  const section = guide.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^- `([^`]+)`: /gmu)].map(([, name = '']) => name);
};
const readGuide = () => readText('docs/guides/fake-gemini.md');

test('the guide to the fake Gemini lists every misbehaviour', async () => {
  expect(listedNames(await readGuide(), 'Misbehaviour').toSorted()).toEqual(
    Object.keys(vicesSchema.shape).toSorted(),
  );
});

test('the guide to the fake Gemini lists every fault', async () => {
  const kinds = faultSchema.options.map(({ shape }) => shape.kind.value);

  expect(listedNames(await readGuide(), 'Faults').toSorted()).toEqual(kinds.toSorted());
});

test('the guide to the fake Gemini lists every control', async () => {
  const source = await readText('infra/fake-gemini/server/control.ts');
  const paths = [...source.matchAll(/'(\/control\/\w+)'/gu)].map(([, path = '']) => path);

  const listed = listedNames(await readGuide(), 'Controls').map((call) => call.split(' ')[1] ?? '');
  expect(new Set(listed)).toEqual(new Set([...paths, '/control/requests/{n}']));
});
