import type { Content } from '#shared/conversation/documents/content.ts';
import {
  findCallLoop,
  LOOP_LENGTH_MAX,
  LOOP_TIMES,
  type LoopCall,
} from '#shared/loops/call-loop.ts';
import {
  CHUNK_CHARACTERS,
  CHUNK_TIMES,
  createRepetitionDetector,
} from '#shared/loops/repetition-detector.ts';
import type { Recording } from '../replay/recording.ts';

/** What the detectors said of one recorded conversation, and of loops that were planted into it. */
export interface LoopReading {
  calls: number;
  /** Rounds of calls that were taken for a loop. */
  callAlarms: number;
  /** The same by a rule that does not look at the responses. */
  blindAlarms: number;
  texts: number;
  characters: number;
  chantAlarms: number;
  plantedCalls: { planted: number; found: number };
  plantedRepetitions: { planted: number; found: number };
}

const isToolResult = ({ parts }: Pick<Content, 'parts'>) =>
  parts.some(({ functionResponse }) => functionResponse !== undefined);

/** The rounds of calls of each turn, with their responses. */
function roundsOfTurns({ turns }: Pick<Recording, 'turns'>): LoopCall[][][] {
  const all: LoopCall[][][] = [];
  let open: { id: string | undefined; name: string; call: LoopCall }[] = [];
  for (const content of turns) {
    if (content.role === 'user' && !isToolResult(content)) all.push([]);
    const round: LoopCall[] = [];
    for (const { functionCall, functionResponse } of content.parts) {
      if (functionCall) {
        const call: LoopCall = { name: functionCall.name, args: functionCall.args ?? {} };
        round.push(call);
        open.push({ ...functionCall, id: functionCall.id, call });
      }
      if (!functionResponse) continue;
      const { id, name, response } = functionResponse;
      const asked = open.find((each) => each.id === id && each.name === name);
      if (asked) asked.call.response = response ?? {};
      open = open.filter((each) => each !== asked);
    }
    if (round.length > 0) (all.at(-1) ?? all[all.push([]) - 1])?.push(round);
  }
  return all.filter((rounds) => rounds.length > 0);
}

const withoutResponses = (rounds: readonly LoopCall[][]): LoopCall[][] =>
  rounds.map((round) => round.map(({ name, args }) => ({ name, args })));

/** As a round is judged: before its calls are run. */
function alarmsOf(rounds: readonly LoopCall[][]): number {
  const judged = (_: LoopCall[], i: number) => {
    const before = rounds.slice(0, i);
    const newest = withoutResponses(rounds.slice(i, i + 1));
    return findCallLoop([...before, ...newest]) !== undefined;
  };
  return rounds.filter(judged).length;
}

/** Series of one to five recorded calls, made five times in a row behind the recorded ones. */
function plantCalls(rounds: readonly LoopCall[][]): { planted: number; found: number } {
  let planted = 0;
  let found = 0;
  for (let length = 1; length <= LOOP_LENGTH_MAX && length <= rounds.length; length++) {
    const series = rounds.slice(-length);
    // Rounds of more calls than the longest series that is looked for.
    if (series.flat().length > LOOP_LENGTH_MAX) break;
    const again = Array.from({ length: LOOP_TIMES }, () => series).flat();
    planted += 1;
    if (findCallLoop([...rounds, ...again])) found += 1;
  }
  return { planted, found };
}

/** Lengths of the phrases that are planted, UTF-16 units. */
const PHRASES = [6, 20, CHUNK_CHARACTERS, 120, 250];

/** Phrases from the words of a text, said until the rule must have found them. */
function plantRepetitions(text: string): { planted: number; found: number } {
  // Without what the rule leaves out: code, tables, rulers.
  const words = text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
  const phrases = PHRASES.filter((length) => length <= words.length).map(
    (length) => `${words.slice(0, length - 2)}. `,
  );
  const isFound = (phrase: string) => {
    const distance = Math.ceil(CHUNK_CHARACTERS / phrase.length) * phrase.length;
    const needed = (CHUNK_TIMES - 1) * distance + CHUNK_CHARACTERS + phrase.length;
    return createRepetitionDetector().see(phrase.repeat(Math.ceil(needed / phrase.length)));
  };
  return { planted: phrases.length, found: phrases.filter(isFound).length };
}

const sum = (parts: readonly { planted: number; found: number }[]) => ({
  planted: parts.reduce((all, { planted }) => all + planted, 0),
  found: parts.reduce((all, { found }) => all + found, 0),
});

/** What both detectors say of a recording, as it is and with loops in it. */
export function readLoops(recording: Pick<Recording, 'turns'>): LoopReading {
  const turns = roundsOfTurns(recording);
  const texts = recording.turns
    .filter(({ role }) => role === 'model')
    .flatMap(({ parts }) => parts.flatMap(({ text }) => (text === undefined ? [] : [text])));
  return {
    calls: turns.flat(2).length,
    callAlarms: turns.reduce((all, rounds) => all + alarmsOf(rounds), 0),
    blindAlarms: turns.reduce((all, rounds) => all + alarmsOf(withoutResponses(rounds)), 0),
    texts: texts.length,
    characters: texts.reduce((all, text) => all + text.length, 0),
    chantAlarms: texts.filter((text) => createRepetitionDetector().see(text)).length,
    plantedCalls: sum(turns.map(plantCalls)),
    plantedRepetitions: sum(texts.map(plantRepetitions)),
  };
}
