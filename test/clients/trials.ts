import { randomUUID } from 'node:crypto';
import {
  Difference,
  differ,
  endOfTurn,
  modelContext,
  same,
  storedMessages,
  textIn,
  transcript,
  until,
} from './server-state.ts';
import * as talk from './talk.ts';
import { columns, type Column, type Library, type Place, type Talk } from './talk.ts';

/** Three functions, each with a user of its own. */
export interface Places {
  open: Place;
  /** The user's messages of the day are used up. */
  spent: Place;
  /** The model is overloaded. */
  failing: Place;
}

interface Trial {
  page: Talk;
  place: Place;
  /** Another page of the same user and conversation. */
  openAgain: () => Promise<Talk>;
}

/** Throws Difference, or what the library says. What it resolves to, a user of the library reads. */
type Run = (trial: Trial) => Promise<string | void>;

/** A page in the middle of an answer. */
async function halfway(page: Talk, text: string) {
  const stopped = new AbortController();
  let shown = '';
  let failure: unknown;
  const onText = (piece: string) => void (shown += piece);
  const answer = page.say(text, { onText, signal: stopped.signal }).catch((error: unknown) => {
    failure ??= error;
    return '';
  });
  await until('the answer has begun', () => shown.includes('3') || failure !== undefined);
  if (failure !== undefined) throw failure;
  return { answer, shown: () => shown, stop: () => stopped.abort() };
}

const contextEndsWith = async (place: Place, answer: string) =>
  same('the end of the context', (await modelContext(place)).at(-1), `model: ${answer}`);

const runs: Readonly<Record<Column, Run>> = {
  send: async ({ page, place }) => {
    const answer = await page.say(talk.SAY);
    same('the transcript', await transcript(place), [`user: ${talk.SAY}`, `model: ${answer}`]);
  },

  stream: async ({ page, place }) => {
    let pieces = 0;
    const answer = await page.say(talk.COUNT, { onText: () => void (pieces += 1) });
    // How many pieces a page draws depends on how busy the machine is; a library that streams draws more than one.
    if (pieces < 2) differ('the answer came in one piece');
    same('the context', await modelContext(place), [`user: ${talk.COUNT}`, `model: ${answer}`]);
  },

  reload: async ({ page, place }) => {
    const first = await page.say(talk.SAY);
    const later = await page.reload?.();
    same('the answer that is read again', later?.answer, first);
    const second = await later?.page?.say(talk.ASK);
    const more = second === undefined ? [] : [`user: ${talk.ASK}`, `model: ${second}`];
    const lines = [`user: ${talk.SAY}`, `model: ${first}`, ...more];
    same('the transcript', await transcript(place), lines);
  },

  'second tab': async ({ page, place, openAgain }) => {
    const { answer } = await halfway(page, talk.COUNT_ON);
    const lines = [`user: ${talk.COUNT_ON}`];
    if (page.resume) {
      const resumed = await page.resume();
      same('the second page', resumed, await answer);
      lines.push(`model: ${resumed}`);
    } else {
      const other = await (await openAgain()).say(talk.SAY);
      lines.push(`model: ${await answer}`, `user: ${talk.SAY}`, `model: ${other}`);
    }
    same('the transcript', await transcript(place), lines);
  },

  stop: async ({ page, place }) => {
    const { shown, stop } = await halfway(page, talk.COUNT_LONG);
    stop();
    const state = await endOfTurn(place);
    if (state !== 'cancelled') differ(`the server did not stop: its turn ended as ${state}`);
    const stored = textIn((await storedMessages(place)).at(-1)?.parts ?? []);
    if (!stored.startsWith(shown().trim()))
      differ(`the page shows ${JSON.stringify(shown())}, the server ${JSON.stringify(stored)}`);
  },

  edit: async ({ page, place }) => {
    const first = await page.say(talk.SAY);
    await page.say(talk.ASK);
    const answer = await page.edit(talk.EDITED);
    const lines = [`user: ${talk.SAY}`, `model: ${first}`, `user: ${talk.EDITED}`];
    same('the context', await modelContext(place), [...lines, `model: ${answer}`]);
  },

  regenerate: async ({ page, place }) => {
    const first = await page.say(talk.SAY);
    await page.say(talk.ASK);
    const before = (await storedMessages(place)).length;
    const answer = await page.regenerate();
    if ((await storedMessages(place)).length === before)
      differ('the stored answer came again, and no other one was made');
    const lines = [`user: ${talk.SAY}`, `model: ${first}`, `user: ${talk.ASK}`];
    same('the context', await modelContext(place), [...lines, `model: ${answer}`]);
  },

  tools: async ({ page, place }) => {
    let calls = 0;
    const answer = await page.callTool(() => {
      calls += 1;
      return { city: talk.CITY };
    });
    if (calls !== 1) differ(`the function ran ${calls} times; the answer is ${answer}`);
    if (!answer.includes(talk.CITY)) differ(`the answer is ${JSON.stringify(answer)}`);
    await contextEndsWith(place, answer);
  },

  approval: async ({ page, place }) => {
    if (page.approve === undefined) {
      const said = await page.say(talk.PAY);
      return said === '' ? differ('the answer is empty, and nothing says that a call waits') : said;
    }
    const answer = await page.approve();
    if (!answer.includes('paid')) differ(`the answer is ${JSON.stringify(answer)}`);
    return contextEndsWith(place, answer);
  },

  structured: async ({ page, place }) => {
    const pet = await page.askForPet(talk.SAY);
    const hasName = typeof pet === 'object' && pet !== null && 'name' in pet;
    if (!hasName) differ(`the answer is ${JSON.stringify(pet)}`);
    same('the messages of the transcript', (await transcript(place)).length, 2);
  },

  files: async ({ page, place }) => {
    await page.say(talk.SAY, { png: talk.PNG });
    const types = (await storedMessages(place))[0]?.parts.map(({ type }) => type) ?? [];
    if (!types.includes('file')) differ(`the server stored ${JSON.stringify(types)}, and no file`);
  },

  '429': async ({ page }) => {
    await page.say(talk.SAY);
    differ('no error is shown');
  },

  error: async ({ page }) => {
    await page.say(talk.SAY);
    differ('no error is shown');
  },
};

/** The message in a body of an error, where the library shows the body as it is. */
function messageInJson(text: string): string | undefined {
  const start = text.indexOf('{');
  if (start === -1) return undefined;
  try {
    const { error } = JSON.parse(text.slice(start));
    return typeof error?.message === 'string' ? error.message : undefined;
  } catch {
    return undefined;
  }
}

/** The words of an error as its reader gets them. */
function saidBy(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const inner = messageInJson(text);
  if (inner !== undefined) return `${inner} (inside JSON)`;
  return text === '' ? `an error without words (${String(error)})` : text;
}

/** Ids of one run would make every page another one. */
const withoutIds = (text: string): string =>
  text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, '{id}')
    .replaceAll(/127\.0\.0\.1:\d+/gu, '127.0.0.1')
    .replaceAll(/(?<=call_|msg_|resp_)[\w-]{8,}/gu, '{id}')
    .trim();

/**
 * What came of one trial, as the table has it: `✔`; `– …` what the library lacks; `✘ …` where it and the server
 * disagree; else what it says to its user.
 */
async function cellOf(library: Library, column: Column, places: Places): Promise<string> {
  const lack = library.lacks?.[column];
  if (lack !== undefined) return `– ${lack}`;
  const refusing: Partial<Record<Column, Place>> = { 429: places.spent, error: places.failing };
  const place = refusing[column] ?? places.open;
  const conversationId = randomUUID();
  const openAgain = async () => library.open(place, conversationId);
  try {
    const ownTrial = library.trials?.[column];
    const said = ownTrial
      ? await ownTrial(place)
      : await runs[column]({ page: await openAgain(), place, openAgain });
    return said === undefined ? '✔' : withoutIds(said);
  } catch (error) {
    // A trial that is wrong itself is not to look like the words of a library.
    const isOurs = [Difference, ReferenceError, TypeError].some((kind) => error instanceof kind);
    return `${isOurs ? '✘ ' : ''}${withoutIds(saidBy(error))}`;
  }
}

/** A cell for each column; all are tried at once, each with users of its own. */
export async function tryLibrary(
  library: Library,
  newPlaces: () => Promise<Places>,
): Promise<Record<string, string>> {
  const cells = columns.map(async (column) => {
    const cell = await cellOf(library, column, await newPlaces());
    return [column, cell] as const;
  });
  return Object.fromEntries(await Promise.all(cells));
}
