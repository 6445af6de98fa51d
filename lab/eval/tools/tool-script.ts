import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { splitText, type Recording } from '../replay/recording.ts';

/** What the model says where the recording breaks off before it said anything. */
export const FILLED = '(Nothing was recorded here.)';

/** A recorded call, and what it gave. */
interface ScriptedCall {
  id: string | undefined;
  name: string;
  args: Record<string, unknown>;
  /** Absent: the recording has none, and the user stopped the turn. */
  response?: Record<string, unknown>;
}

/** A message, and all that the model and its tools answered. */
export interface ScriptedTurn {
  /** Text parts as they will be sent. */
  userTexts: string[];
  /** One content for each call of the model; the last one asks for no tool, unless the turn was stopped. */
  answers: Content[];
  /** Of all answers, in order. */
  calls: ScriptedCall[];
  /** The last answer asks for something that nobody gave. */
  isStopped: boolean;
  /** The last answer is made up. */
  isFilled: boolean;
}

export interface ToolScript {
  turns: ScriptedTurn[];
  /** Answers with more than one call. */
  parallel: number;
  leftOut: { otherParts: number; openingContents: number; orphanResponses: number };
}

const textsIn = (parts: readonly Part[]): string[] =>
  parts.flatMap(({ text, thought }) => (text && thought !== true ? [text.toWellFormed()] : []));

const isSaid = ({ text, thought, functionCall }: Part): boolean =>
  functionCall !== undefined || (text !== undefined && text !== '' && thought !== true);

const callParts = ({ parts }: Pick<Content, 'parts'>) =>
  parts.flatMap(({ functionCall }) => functionCall ?? []);

/** Gives each response to the first call without one that has its name, and its id where both have one. */
function answerCalls(turn: ScriptedTurn | undefined, parts: readonly Part[]): number {
  let orphans = 0;
  for (const { functionResponse: given } of parts) {
    if (!given) continue;
    const asked = turn?.calls.find(
      ({ id, name, response }) =>
        response === undefined && name === given.name && (id ?? given.id) === (given.id ?? id),
    );
    if (asked) asked.response = given.response ?? {};
    else orphans += 1;
  }
  return orphans;
}

/** What the model says goes to its last content until somebody has answered that. */
function sayOn(turn: ScriptedTurn, parts: readonly Part[], isNext: boolean): void {
  const said = parts.filter(isSaid);
  const last = turn.answers.at(-1);
  if (last && !isNext) last.parts.push(...said);
  else if (said.length > 0) turn.answers.push({ role: 'model', parts: said });
  for (const { id, name, args } of callParts({ parts: said }))
    turn.calls.push({ id, name, args: args ?? {} });
}

function endTurn(turn: ScriptedTurn): void {
  const last = turn.answers.at(-1);
  const asked = last ? callParts(last).length : 0;
  const open = turn.calls.slice(turn.calls.length - asked);
  turn.isStopped = open.some(({ response }) => response === undefined);
  turn.isFilled = !turn.isStopped && (!last || asked > 0);
  if (turn.isFilled) turn.answers.push({ role: 'model', parts: [{ text: FILLED }] });
}

/**
 * Makes turns of a recording, with every call and what it gave. Where the user says something else while a call
 * is open, the turn was stopped. What cannot be replayed is counted: parts that are neither text nor call, what
 * the model said before the user did, and responses that nobody asked for.
 */
export function toolScriptOf({ turns: contents }: Recording, maxPartBytes: number): ToolScript {
  const turns: ScriptedTurn[] = [];
  const leftOut = { otherParts: 0, openingContents: 0, orphanResponses: 0 };
  let previousRole: string | undefined;
  for (const { role, parts } of contents) {
    leftOut.otherParts += parts.filter(
      (part) => !isSaid(part) && part.functionResponse === undefined,
    ).length;
    const current = turns.at(-1);
    if (role === 'model') {
      if (current) sayOn(current, parts, previousRole !== 'model');
      else leftOut.openingContents += 1;
    } else {
      leftOut.orphanResponses += answerCalls(current, parts);
      const userTexts = textsIn(parts).flatMap((text) => splitText(text, maxPartBytes));
      if (userTexts.length > 0 && current?.answers.length === 0)
        current.userTexts.push(...userTexts);
      else if (userTexts.length > 0)
        turns.push({ userTexts, answers: [], calls: [], isStopped: false, isFilled: false });
    }
    previousRole = role;
  }
  for (const turn of turns) endTurn(turn);
  const parallel = turns
    .flatMap(({ answers }) => answers)
    .filter((answer) => callParts(answer).length > 1).length;
  return { turns, parallel, leftOut };
}

/** Rounds of the turn that has most of them. */
export const mostRounds = ({ turns }: Pick<ToolScript, 'turns'>): number =>
  Math.max(
    0,
    ...turns.map(({ answers }) => answers.filter((each) => callParts(each).length).length),
  );
