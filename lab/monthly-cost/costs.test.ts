import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { monitoring } from '#test/terraform/texts.ts';
import { costTable, restTable } from './cost-tables.ts';
import { countDocuments } from './count-documents.ts';
import { documentCounts } from './document-counts.ts';
import { scalePart } from './scale-tables.ts';

/** Cells without the width that prettier gives them. */
const cellsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .join('|'),
    );

const marked = (name: string) =>
  /<!-- costs -->([\s\S]*)<!-- end of costs -->/.exec(
    readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8'),
  )?.[1] ?? '';

describe('costs', () => {
  test('of a month stand in docs/operations.md as npm run cost:monthly writes them', () => {
    expect(cellsOf(marked('operations.md'))).toEqual(cellsOf(costTable()));
  });

  test('at rest stand in docs/deploy.md as npm run cost:monthly writes them', async () => {
    const { conditions } = await monitoring();

    expect(cellsOf(marked('deploy.md'))).toEqual(cellsOf(restTable(conditions)));
  });

  test('and loads at their peak stand in docs/guides/scale.md as npm run cost:monthly writes them', () => {
    expect(cellsOf(marked('guides/scale.md'))).toEqual(cellsOf(scalePart()));
  });

  test('go by what the code reads and writes today', { timeout: 120_000 }, async () => {
    const counted = await countDocuments();

    // A slow machine stores a chunk less, or asks once more whether it is still wanted.
    const isNear = (now: number, before: number) =>
      Math.abs(now - before) <= Math.max(4, before / 5);
    const apart = Object.entries(documentCounts).flatMap(([work, stored]) =>
      Object.entries(stored).flatMap(([kind, before]) => {
        const now = Number(Reflect.get(Reflect.get(counted, work), kind));
        return isNear(now, Number(before))
          ? []
          : [`${work}.${kind}: ${Number(before)}, now ${now}`];
      }),
    );
    expect(apart).toEqual([]);
  });
});
