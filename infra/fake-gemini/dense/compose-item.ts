import type { Candidate } from '../summaries/ledger-lines.ts';
import { chance } from '../server/misbehaviour.ts';
import type { Clause } from './clause.ts';
import { type Language, writings } from './language.ts';
import { findTopic, type Group } from './merge-by-subject.ts';

/** What is the same for all items of an answer. */
interface Composing {
  seed: string;
  language: Language;
  /** Numbers of the turns that are folded. */
  folded: ReadonlySet<number>;
}

/** An item that is new, with its statements apart from its subject. */
export interface Item extends Candidate {
  label: string;
  statements: string;
}

const topicShare = 0.5;
const turnShare = 0.05;
const neighbourShare = 0.04;
const quoteShare = 0.4;
const longestQuote = 60;

const ascending = (numbers: readonly number[]): number[] =>
  [...new Set(numbers)].toSorted((a, b) => a - b);

/** `11-14` where the turns follow each other, else the first alone. */
function turnNumbers(sources: readonly number[]): string {
  const [first = 0, last = first] = [sources[0], sources.at(-1)];
  const isRow = sources.length > 2 && last - first === sources.length - 1;
  return isRow ? `${first}-${last}` : String(first);
}

/** Now and then one turn is cited wrongly, by a neighbour's number, as models do. */
function cite(clauses: readonly Clause[], { seed, folded }: Composing): number[] {
  const sources = ascending(clauses.flatMap((clause) => clause.sources));
  const key = clauses.map(({ text }) => text).join('\n');
  const draw = chance(seed, 'neighbour', key);
  if (draw >= neighbourShare) return sources;
  const wrong = sources[Math.floor((draw / neighbourShare) * sources.length)] ?? 0;
  const neighbour = [wrong + 1, wrong - 1].find((seq) => folded.has(seq)) ?? wrong;
  return ascending(sources.map((seq) => (seq === wrong ? neighbour : seq)));
}

const lastWord = /\s\S*$/u;

/** The first words of what the user said, as they stand there; none in most items. */
function chooseQuote(clauses: readonly Clause[], seed: string): string {
  const said = clauses.find(({ saidBy }) => saidBy === 'user')?.quote ?? '';
  if (said === '' || chance(seed, 'quote', said) >= quoteShare) return '';
  if (said.length <= longestQuote) return said;
  return said
    .slice(0, longestQuote)
    .replace(lastWord, '')
    .replace(/[\uD800-\uDBFF]$/u, '');
}

const fewestInSection = 0.25;

/** The section that most clauses belong in; what is no more than known gives way to any with a quarter of them. */
function chooseSection(clauses: readonly Clause[]): string {
  const sections = clauses.map(({ section = 'key_knowledge' }) => section);
  const [told] = [...Map.groupBy(sections, (each) => each).values()]
    .filter(([each]) => each !== 'key_knowledge')
    .toSorted((one, other) => other.length - one.length);
  return told?.[0] !== undefined && told.length >= fewestInSection * clauses.length
    ? told[0]
    : 'key_knowledge';
}

/** One item that says all clauses of a group: `Ann, garden: bought 3 roses 2026-05-03; waters them at 7 (turn 12)`. */
export function composeItem(group: Group, composing: Composing): Item {
  const { seed, language } = composing;
  const { colon, semicolon, turn } = writings[language];
  const { clauses, label } = group;
  const sources = cite(clauses, composing);
  const statements = clauses
    .map(({ text, sources: own }) => {
      const refers = clauses.length > 1 && chance(seed, 'turn', text) < turnShare;
      return refers ? text + turn(turnNumbers(own)) : text;
    })
    .join(semicolon);
  const first = clauses[0]?.text ?? '';
  const topic = chance(seed, 'topic', first) < topicShare ? findTopic(group) : undefined;
  const about = topic === undefined ? '' : `, ${topic}`;
  const isRow = sources.length > 2 && turnNumbers(sources).includes('-');
  const reference =
    isRow && chance(seed, 'turns', first) < 3 * turnShare ? turn(turnNumbers(sources)) : '';
  return {
    text: `${label}${about}${colon}${statements}${reference}`,
    statements: statements + reference,
    label,
    quote: chooseQuote(clauses, seed),
    saidBy: clauses.some(({ saidBy }) => saidBy === 'user') ? 'user' : 'model',
    sources,
    facts: clauses.reduce((sum, { facts }) => sum + facts, 0),
    isRule: false,
    section: chooseSection(clauses),
  };
}
