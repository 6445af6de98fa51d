import { aligned, percentage } from '#infra/text-table.ts';
import type { RecallCase } from './recall-cases.ts';
import type { Ranker } from './recall-library.ts';

const DEPTHS = [5, 10] as const;
type Depth = (typeof DEPTHS)[number];

/** Probes of which one, and of which every turn of the evidence is among the first hits. */
interface RecallFigure {
  probes: number;
  one: Record<Depth, number>;
  all: Record<Depth, number>;
}

const nothing = (): RecallFigure => ({ probes: 0, one: { 5: 0, 10: 0 }, all: { 5: 0, 10: 0 } });

/** Looks every probe of the conversations up. */
export function recallOf(cases: readonly RecallCase[], ranker: Ranker): RecallFigure {
  const figure = nothing();
  for (const { turns, probes } of cases) {
    const search = ranker(turns);
    for (const { question, evidence } of probes) {
      const hits = search(question);
      figure.probes += 1;
      for (const depth of DEPTHS) {
        const first = new Set(hits.slice(0, depth));
        const found = evidence.filter((seq) => first.has(seq)).length;
        if (found > 0) figure.one[depth] += 1;
        if (found === evidence.length) figure.all[depth] += 1;
      }
    }
  }
  return figure;
}

export interface RecallRow {
  name: string;
  own: RecallFigure;
  library: RecallFigure;
}

const isHeldOut = (index: number) => index % 2 === 1;

/** Figures of one file: of the conversations that weights were chosen on, of the held-out ones, of all. */
export function recallRows(
  file: string,
  cases: readonly RecallCase[],
  rankers: { own: Ranker; library: Ranker },
): RecallRow[] {
  const { own, library } = rankers;
  const parts = [
    { name: `${file}, chosen on`, cases: cases.filter((_, index) => !isHeldOut(index)) },
    { name: `${file}, held out`, cases: cases.filter((_, index) => isHeldOut(index)) },
    { name: `${file}, all`, cases },
  ];
  return parts
    .filter((part) => part.cases.length > 0)
    .map((part) => ({
      name: part.name,
      own: recallOf(part.cases, own),
      library: recallOf(part.cases, library),
    }));
}

const measures = DEPTHS.flatMap((depth) =>
  (['one', 'all'] as const).map((kind) => ({ title: `${kind}@${depth}`, depth, kind })),
);

/** One line a part: the share that is found, beside it the library's, and how many times as much that is. */
export function recallText(rows: readonly RecallRow[]): string {
  const cells = ({ name, own, library }: RecallRow) => [
    name,
    String(own.probes),
    ...measures.flatMap(({ depth, kind }) => {
      const [mine, theirs] = [own[kind][depth], library[kind][depth]];
      return [
        percentage(mine, own.probes),
        percentage(theirs, own.probes),
        theirs === 0 ? '-' : `${(mine / theirs).toFixed(2)}x`,
      ];
    }),
  ];
  const titles = [
    'conversations',
    'probes',
    ...measures.flatMap(({ title }) => [title, 'library', '']),
  ];
  return aligned([titles, ...rows.map(cells)]);
}
