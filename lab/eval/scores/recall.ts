import MiniSearch from 'minisearch';
import type { Excerpt } from '#shared/recall/excerpts.ts';
import { recall } from '#shared/recall/recall.ts';
import { passagesOfTurns, segmentOfPassages } from '#shared/recall/segment.ts';
import { turnSearch } from '#shared/search/rank-turns.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { aligned, percentage } from '#infra/text-table.ts';
import { turnsOf, type RecordedTurn } from '../compact/recorded-turns.ts';
import { exchangesOf, type Exchange, type Recording } from '../replay/recording.ts';
import { wantedRecordings, type Scorer } from '../scorer.ts';

/** A question, and the turns that hold the evidence of its answer. */
interface RecallProbe {
  id: string;
  question: string;
  evidence: readonly number[];
}

/** A conversation as a search sees it, and what is looked up in it. */
interface RecallCase {
  id: string;
  turns: TurnTexts[];
  probes: RecallProbe[];
}

function turnTexts(seq: number, time: Date, said: { user: string; model: string }): TurnTexts {
  const messages = [
    { id: `u_${seq}`, role: 'user' as const, text: said.user, time },
    { id: `m_${seq}`, role: 'model' as const, text: said.model, time },
  ];
  return {
    seq,
    inContext: true,
    isReplaced: false,
    messages: messages.filter(({ text }) => text !== ''),
    tools: '',
  };
}

const tokensOf = ({ messages }: TurnTexts) =>
  messages.reduce(
    (sum, { role, text }) =>
      sum + estimateContentTokens({ role, parts: [{ text }] }, 'character-class'),
    0,
  );

/** Of the tail, as the policy has it. */
const TAIL_TOKENS = 4_000;

/** The last turn before a tail of about that size; 0 where all is tail. */
function lastBeforeTail(turns: readonly TurnTexts[], tailTokens: number): number {
  let left = tailTokens;
  let last = turns.length;
  for (const turn of turns.toReversed()) {
    if (left <= 0) return last;
    left -= tokensOf(turn);
    last = turn.seq - 1;
  }
  return last;
}

/** Which turn (from 1) each content of the recording went into. */
const turnsOfContents = (exchanges: readonly Exchange[]): Map<number, number> =>
  new Map(
    exchanges.flatMap(({ recordedIndexes }, index) =>
      recordedIndexes.map((recordedIndex) => [recordedIndex, index + 1] as const),
    ),
  );

/**
 * The turns of a recording, and its probes whose evidence lies wholly before the tail. Those without an answer are left
 * out, and `adversarial` ones, which ask for what was never said.
 */
export function recallCaseOf(recording: Recording, tailTokens: number): RecallCase {
  const exchanges = exchangesOf(recording);
  const turns = exchanges.map((said, index) => turnTexts(index + 1, new Date(0), said));
  const foldedThrough = lastBeforeTail(turns, tailTokens);
  const seqs = turnsOfContents(exchanges);
  const probes = (recording.probes ?? []).flatMap(
    ({ id, question, answer, category, evidenceTurnIndexes }) => {
      if (answer === undefined || answer === null || category === 'adversarial') return [];
      const evidence = (evidenceTurnIndexes ?? []).map((index) => seqs.get(index) ?? Infinity);
      if (evidence.length === 0 || evidence.some((seq) => seq > foldedThrough)) return [];
      return [{ id, question, evidence: [...new Set(evidence)] }];
    },
  );
  return { id: recording.id, turns, probes };
}

/** Makes a conversation searchable; the search gives turns, the best first. */
type Ranker = (turns: readonly TurnTexts[]) => (question: string) => number[];

/** Hits that figures are made of. */
const HITS = 10;

/** As the tool recall_history ranks turns. */
export const ownRanker: Ranker = (turns) => (question) => {
  const search = turnSearch(question);
  for (const turn of turns) search.lookInto(turn);
  return search.hits(HITS).map(({ seq }) => seq);
};

/** The library with its defaults: one document a turn, question and answer as one text. */
export const libraryRanker: Ranker = (turns) => {
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(
    turns.map(({ seq, messages }) => ({
      id: seq,
      text: messages.map(({ text }) => text).join('\n'),
    })),
  );
  return (question) =>
    index
      .search(question)
      .slice(0, HITS)
      .map(({ id }) => Number(id));
};

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

interface RecallRow {
  name: string;
  own: RecallFigure;
  library: RecallFigure;
}

const isHeldOut = (index: number) => index % 2 === 1;

/** Figures of one file: of the conversations that weights were chosen on, of the held-out ones, of all. */
function recallRows(file: string, cases: readonly RecallCase[]): RecallRow[] {
  const parts = [
    { name: `${file}, chosen on`, cases: cases.filter((_, index) => !isHeldOut(index)) },
    { name: `${file}, held out`, cases: cases.filter((_, index) => isHeldOut(index)) },
    { name: `${file}, all`, cases },
  ];
  return parts
    .filter((part) => part.cases.length > 0)
    .map((part) => ({
      name: part.name,
      own: recallOf(part.cases, ownRanker),
      library: recallOf(part.cases, libraryRanker),
    }));
}

const measures = DEPTHS.flatMap((depth) =>
  (['one', 'all'] as const).map((kind) => ({ title: `${kind}@${depth}`, depth, kind })),
);

/** One line a part: the share that is found, beside it the library's, and how many times as much that is. */
function recallText(rows: readonly RecallRow[]): string {
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

/** UTF-16 units that automatic recall may show. */
const ROOMS = [800, 1_500] as const;
type Room = `${(typeof ROOMS)[number]}`;

/** Share of a conversation's contents that counts as folded. */
const FOLDED_FRACTION = 0.7;

/** Day and speaker of a record. */
const LABEL_CHARACTERS = 18;

const textOf = ({ parts }: RecordedTurn['user']) => parts.map(({ text = '' }) => text).join('\n');

/** The contents before `end` as the worker indexes them. */
function foldedTexts(
  { user, contents, firstIndex, at }: RecordedTurn,
  index: number,
  end: number,
): TurnTexts {
  const folded = contents.slice(0, Math.max(0, end - firstIndex - 1));
  return turnTexts(index + 1, at, { user: textOf(user), model: folded.map(textOf).join('\n') });
}

function roomOf(characters: number): (excerpt: Excerpt) => boolean {
  let left = characters;
  return ({ text }) => {
    const length = text.length + LABEL_CHARACTERS;
    if (length > left) return false;
    left -= length;
    return true;
  };
}

interface EvidenceFigure {
  questions: number;
  /** Of how many a message of the evidence is among the excerpts. */
  shown: Record<Room, number>;
}

/** Asks each question whose evidence is folded as the message of a turn. */
function evidenceOf(recordings: readonly Recording[]): EvidenceFigure {
  const figure: EvidenceFigure = { questions: 0, shown: { 800: 0, 1500: 0 } };
  for (const recording of recordings) {
    const end = FOLDED_FRACTION * recording.turns.length;
    const turns = turnsOf(recording).filter(({ firstIndex }) => firstIndex < end);
    const texts = turns.map((turn, index) => foldedTexts(turn, index, Math.ceil(end)));
    const segments = [segmentOfPassages(passagesOfTurns(texts))];
    for (const { question, answer, category, evidenceTurnIndexes } of recording.probes ?? []) {
      if (!answer || category === 'adversarial' || !evidenceTurnIndexes?.length) continue;
      if (Math.max(...evidenceTurnIndexes) >= end) continue;
      figure.questions += 1;
      const said = evidenceTurnIndexes.map((index) => {
        const turn = turns.findLastIndex(({ firstIndex }) => firstIndex <= index);
        return `${turn + 1}/${turns[turn]?.firstIndex === index ? 'user' : 'model'}`;
      });
      for (const room of ROOMS) {
        const excerpts = recall({
          message: question,
          segments,
          throughSeq: turns.length,
          hidden: new Set(),
          known: [],
          hasRoomFor: roomOf(room),
        });
        if (excerpts.some(({ seq, role }) => said.includes(`${seq}/${role}`)))
          figure.shown[`${room}`] += 1;
      }
    }
  }
  return figure;
}

/** As shares, three decimals. */
const evidenceShares = ({ questions, shown }: EvidenceFigure): Record<Room, number> => ({
  800: Math.round((1_000 * shown[800]) / Math.max(1, questions)) / 1_000,
  1500: Math.round((1_000 * shown[1500]) / Math.max(1, questions)) / 1_000,
});

/** How often a search for a question, and automatic recall, find the turns that hold the evidence. */
export const scoreRecall: Scorer = (settings, files) => {
  const rows: RecallRow[] = [];
  for (const file of files) {
    const cases = wantedRecordings(settings, [file])
      .map((recording) => recallCaseOf(recording, TAIL_TOKENS))
      .filter(({ probes }) => probes.length > 0);
    rows.push(...recallRows(file.name, cases));
  }
  const found = evidenceOf(wantedRecordings(settings, files));
  const evidence = evidenceShares(found);
  const text = [
    recallText(rows),
    `automatic recall: evidence within 800 characters ${evidence[800]}, within 1,500 ${evidence[1500]} (${found.questions} questions)`,
  ].join('\n');
  return Promise.resolve({ text, figures: { rows, evidence }, isGood: true });
};
