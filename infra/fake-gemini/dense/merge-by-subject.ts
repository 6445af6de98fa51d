import { questionTerms } from '../answers/question-terms.ts';
import { chance } from '../server/misbehaviour.ts';
import type { Clause } from './clause.ts';

/** Clauses that make one item. */
export interface Group {
  label: string;
  clauses: Clause[];
  /** Characters of the clauses with what parts them. */
  length: number;
  /** Characters that it may reach. */
  most: number;
}

/** Characters of an item, its subject and references to turns included. */
export const longestItem = 400;
const subjectRoom = 60;
const shortestItem = 160;
/** What the shared words must be worth at least: two of some, or one that hardly anything else has. */
const fewestShared = 4.5;
/** What it is worth besides to have been said in the same turn; two turns later a third of it. */
const nearness = 3;
/** Words of so many clauses tell of nothing in particular. */
const commonShare = 0.06;

const parting = 2;
const fileSections = new Set(['artifact_trail', 'file_system_state', 'recent_actions']);

/** Only clauses of one speaker come together, and of files only those of one section. */
const kindKey = ({ label = '', section = '' }: Clause): string =>
  `${label}\n${fileSections.has(section) ? section : ''}`;

const readWords = ({ text, label = '' }: Clause): string[] =>
  questionTerms(text)
    .map((term) => term.text)
    .filter((term) => !/^\d+$/.test(term) && !label.toLowerCase().startsWith(term));

/** How much each word tells: the rarer, the more; nothing where one clause has it, or too many. */
function weighWords(words: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const each of words)
    for (const word of new Set(each)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(3, commonShare * words.length);
  return new Map(
    [...counts]
      .filter(([, count]) => count > 1 && count <= most)
      .map(([word, count]) => [word, Math.log((2 * words.length) / count)]),
  );
}

const openGroup = (clause: Clause, seed: string): Group => ({
  label: clause.label ?? '',
  clauses: [clause],
  length: clause.text.length,
  most:
    longestItem -
    subjectRoom -
    Math.floor(chance(seed, 'length', clause.text) * (longestItem - subjectRoom - shortestItem)),
});

const fits = (group: Group, length: number): boolean =>
  group.length + parting + length <= group.most;

function join(group: Group, clauses: readonly Clause[], length: number): void {
  group.clauses.push(...clauses);
  group.length += parting + length;
}

/** Which groups hold a word, and how much it tells. */
interface Words {
  holders: Map<string, Set<Group>>;
  weights: ReadonlyMap<string, number>;
}

/** The group that shares the words that tell the most; of equals the first. */
function bestGroup(
  clause: Clause,
  words: readonly string[],
  { holders, weights }: Words,
): Group | undefined {
  const scores = new Map<Group, number>();
  for (const word of words)
    for (const group of holders.get(word) ?? [])
      if (fits(group, clause.text.length))
        scores.set(group, (scores.get(group) ?? 0) + (weights.get(word) ?? 0));
  const seq = clause.sources[0] ?? 0;
  for (const [group, score] of scores) {
    const distance = Math.abs(seq - (group.clauses.at(-1)?.sources[0] ?? 0));
    scores.set(group, score + nearness / (1 + distance));
  }
  const [group, score = 0] = [...scores].toSorted((a, b) => b[1] - a[1])[0] ?? [];
  return score >= fewestShared ? group : undefined;
}

/** Short groups that follow each other, as far as they go into one. */
function joinShort(groups: readonly Group[]): Group[] {
  const joined: Group[] = [];
  for (const group of groups) {
    const before = joined.at(-1);
    const isShort = group.clauses.length === 1 || group.length < shortestItem;
    if (before !== undefined && isShort && fits(before, group.length))
      join(before, group.clauses, group.length);
    else joined.push(group);
  }
  return joined;
}

/** Clauses of one speaker brought together by what they tell of, each group short enough for an item. */
export function mergeBySubject(clauses: readonly Clause[], seed: string): Group[] {
  const byKind = Map.groupBy(clauses, kindKey);
  return [...byKind.values()].flatMap((all) => {
    const words = all.map(readWords);
    const weights = weighWords(words);
    const holders = new Map<string, Set<Group>>();
    const groups: Group[] = [];
    for (const [index, clause] of all.entries()) {
      const telling = (words[index] ?? []).filter((word) => weights.has(word));
      const found = bestGroup(clause, telling, { holders, weights });
      const group = found ?? openGroup(clause, seed);
      if (found === undefined) groups.push(group);
      else join(found, [clause], clause.text.length);
      for (const word of telling) {
        const holding = holders.get(word) ?? new Set();
        holders.set(word, holding.add(group));
      }
    }
    return joinShort(groups);
  });
}

/** The word that most clauses of a group share, as it is written in the first of them; none in unspaced scripts. */
export function findTopic({ clauses }: Group): string | undefined {
  const counts = new Map<string, number>();
  for (const clause of clauses)
    for (const word of new Set(readWords(clause))) counts.set(word, (counts.get(word) ?? 0) + 1);
  const [stem, count = 0] = [...counts].toSorted((a, b) => b[1] - a[1])[0] ?? [];
  if (stem === undefined || count < 2 || !/^[\p{Script=Latin}]{4,}$/u.test(stem)) return undefined;
  const written = new RegExp(`(?<![\\p{L}/_.])${stem}\\p{L}{0,3}(?![\\p{L}/_.])`, 'iu');
  return clauses.map(({ text }) => written.exec(text)?.[0]).find((word) => word !== undefined);
}
