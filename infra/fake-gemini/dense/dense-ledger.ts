import { chooseWithin, foldedContents } from '../answers/candidates.ts';
import {
  type Candidate,
  hasTurnMarks,
  type KnownItem,
  knownItems,
  markedLines,
} from '../summaries/ledger-lines.ts';
import type { ModelRequestBody } from '../server/request.ts';
import { readRoom } from '../summaries/room.ts';
import { type Clause, clausesIn, type Rewording, wholeSentence } from './clause.ts';
import { composeItem } from './compose-item.ts';
import { commonLanguage, writings } from './language.ts';
import { mergeBySubject } from './merge-by-subject.ts';
import { forgetKnown, mergeIntoKnown } from './merge-into-known.ts';
import { readRecords } from './records.ts';
import { readSaidAt } from './said-at.ts';

/** What a capable model has read, before it writes. */
interface DenseDraft {
  /** Clauses that have room, and what stays one by itself. */
  chosen: Clause[];
  /** The items of a ledger, made of what is left of them. */
  compose(kept: readonly Clause[]): Candidate[];
}

/** Of the room, what is kept free for new items however much is known. */
const newShare = 0.2;

const listOf = (texts: readonly string[]): string => texts.map((text) => `- ${text}\n`).join('');

/** `[session 2, Monday]`: nobody says it, it stands around what is said. */
const isStageMark = (text: string): boolean => /^\[[^\]]*\]$/u.test(text);

/** Constraints stay word for word, and so does what changes them; the goal and other changes are reworded alone. */
function rewordOne(
  candidate: Candidate,
  rewording: Rewording,
  known: readonly KnownItem[],
): Clause[] {
  const { changes, isGoal, isRule } = candidate;
  if (isStageMark(candidate.text)) return [];
  if (changes !== undefined) {
    const changed = known.find(({ id }) => id === changes.id);
    const isWordForWord = changes.op === 'remove' || changed?.section === 'active_constraints';
    return [isWordForWord ? candidate : wholeSentence(candidate, rewording)];
  }
  if (isRule) return [candidate];
  return isGoal === true ? [wholeSentence(candidate, rewording)] : clausesIn(candidate, rewording);
}

const isFree = ({ label }: Clause): boolean => label !== undefined;

/**
 * What a capable model would say of the statements that an honest one would copy: as dense clauses, as many as have room
 * beside what is known, the ones that say most; composed to items of several turns, some of them brought into known items.
 */
export function draftDenseLedger(
  task: { body: ModelRequestBody; seed: string; isRepair: boolean },
  candidates: readonly Candidate[],
): DenseDraft {
  const { body, seed, isRepair } = task;
  const contents = foldedContents(body);
  const lines = contents.flatMap((each) => (hasTurnMarks(each) ? markedLines(each) : []));
  const language = commonLanguage(
    lines.filter(({ saidBy }) => saidBy === 'user').map(({ text }) => text),
  );
  const folded = new Set(lines.flatMap(({ seq }) => (seq === undefined ? [] : [seq])));
  const known = knownItems(body.contents ?? []);
  const rewording = { seed, saidAt: readSaidAt(contents), language, keepsFigures: isRepair };
  const { records, sentences } = isRepair
    ? { records: [], sentences: new Set<string>() }
    : readRecords(lines);
  const clauses = [
    ...candidates
      .filter(({ text, isRule, changes }) => isRule || changes || !sentences.has(text))
      .flatMap((each) => rewordOne(each, rewording, known)),
    ...records.flatMap((each) => clausesIn(each, rewording)),
  ];
  const changed = new Set(clauses.flatMap(({ changes }) => (changes ? [changes.id] : [])));
  const room = readRoom(body);
  const held = known.filter(({ id }) => !changed.has(id)).map(({ text }) => text);
  const left = room.size - room.measure(listOf(held));
  const wanted = Math.floor(newShare * room.size);
  const isFull = left < wanted && clauses.length > 0 && !isRepair;
  const composing = { seed, language, folded };
  const itemsIn = (chosen: readonly Clause[]) =>
    mergeBySubject(chosen.filter(isFree), seed).map((group) => composeItem(group, composing));
  const render = (chosen: readonly Clause[]): string =>
    listOf([...chosen.filter((each) => !isFree(each)), ...itemsIn(chosen)].map(({ text }) => text));
  return {
    chosen: chooseWithin(clauses, { ...room, size: Math.max(left, wanted) }, render),
    compose(kept) {
      const { semicolon } = writings[language];
      const merging = { seed, semicolon, changed: new Set(changed) };
      const alone: Candidate[] = kept.filter((each) => !isFree(each));
      const merged = isRepair ? itemsIn(kept) : mergeIntoKnown(itemsIn(kept), known, merging);
      if (!isFull) return [...alone, ...merged];
      const full = {
        wanted: wanted - left,
        measure: (text: string) => room.measure(text),
        turn: Math.max(...folded),
      };
      return [...alone, ...merged, ...forgetKnown(known, merging.changed, full)];
    },
  };
}
