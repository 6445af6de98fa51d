/** UTF-16 units of the chunk whose repetition is looked for, and how often it stands in a chant, as in Gemini CLI. */
const CHUNK_CHARACTERS = 50;
const CHUNK_TIMES = 10;
/** The longest phrase that is looked for. */
const PERIOD_MAX = 250;
/** So often a reader sees what may be the beginning of a chant. */
const SHOWN_TIMES = 2;

/** A new phrase is looked for each time that so many characters have come. */
const LOOK_EVERY = 16;
/** What is kept of the text: more than a chant has before it is found. */
const KEPT_CHARACTERS = 4_096;

/** A line that opens or closes fenced code; code within a line, ```like this```, does not. */
const fence = /^\s*(`{3,}|~{3,})[^`]*$/;
/** A fence is short: of longer lines no more is kept. */
const FENCE_LINE_CHARACTERS = 100;

/** How long `times` sayings of a phrase are, up to the chunk that shows the next one to come. */
const lengthOf = (period: number, times: number): number =>
  times * Math.max(period, CHUNK_CHARACTERS) + CHUNK_CHARACTERS;

/**
 * Finds a model that says the same phrase of up to 250 characters over and over, word for word, while it does: 50
 * characters that stand ten times. Rows of tables, HTML, JSON and fenced code repeat for good reasons: their signs
 * begin the search anew. A hundred equal lines that the user asked for are a chant too; lines with a number that rises
 * are none. Linear time, and memory for some thousand characters.
 *
 * `isJson`: all of the text is JSON. Then every comma begins the search anew, so that a list of equal items is none, and
 * only a value that never ends is.
 */
export function createRepetitionDetector({ isJson = false }: { isJson?: boolean } = {}) {
  let text = '';
  let line = '';
  let openFence: string | undefined;
  /** Length of the phrase that the text ends with again and again; 0: none is known. */
  let period = 0;
  /** How much of the end of the text consists of it. */
  let run = 0;
  let count = 0;
  let isRepetition = false;

  const startAnew = () => {
    text = '';
    period = 0;
    run = 0;
  };

  const endLine = () => {
    const [, signs] = fence.exec(line) ?? [];
    line = '';
    if (signs === undefined) return;
    if (openFence === undefined) openFence = signs;
    else if (signs.startsWith(openFence)) openFence = undefined;
    startAnew();
  };

  /** Whether a character belongs to a table, HTML or JSON: `[` in a sentence is a note, and stands behind a blank. */
  const isMarkup = (character: string): boolean =>
    character === '|' ||
    character === '<' ||
    character === '{' ||
    (isJson && character === ',') ||
    (character === '[' && /\S$/.test(text));

  /** Looks for the newest place where the last chunk stands already, and how far the text repeats itself from there. */
  const lookForPhrase = () => {
    const end = text.slice(-(PERIOD_MAX + CHUNK_CHARACTERS));
    const place = end.lastIndexOf(text.slice(-CHUNK_CHARACTERS), end.length - CHUNK_CHARACTERS - 1);
    if (place < 0 || text.length < CHUNK_CHARACTERS) return;
    period = end.length - CHUNK_CHARACTERS - place;
    run = period;
    while (run < text.length && text.at(-1 - run) === text.at(period - 1 - run)) run += 1;
  };

  const take = (character: string) => {
    if (character === '\n') endLine();
    else if (line.length < FENCE_LINE_CHARACTERS) line += character;
    if (openFence !== undefined) return;
    if (isMarkup(character)) startAnew();
    if (period > 0 && text.at(-period) === character) run += 1;
    else period = run = 0;
    text += character;
    if (text.length > 2 * KEPT_CHARACTERS) text = text.slice(-KEPT_CHARACTERS);
    count += 1;
    if (period === 0 && count % LOOK_EVERY === 0) lookForPhrase();
    isRepetition = period > 0 && run >= lengthOf(period, CHUNK_TIMES - 1);
  };

  let held = 0;
  return {
    /** Takes what the model says next; whether it chants. Once it does, it stays so. */
    see(delta: string): boolean {
      for (let index = 0; index < delta.length; index++) {
        if (!isRepetition) take(delta.charAt(index));
        const shown = lengthOf(period, SHOWN_TIMES) - 1;
        if (isRepetition && held > 0) held += 1;
        else held = period > 0 ? Math.max(0, run - shown) : 0;
      }
      return isRepetition;
    },
    /**
     * How many UTF-16 units at the end of all that was seen say a phrase for the third time or more, or stand behind a
     * chant: who holds them back shows no chant. 0 as soon as something new is said.
     */
    heldCharacters: (): number => held,
  };
}

/** Whether a whole text chants somewhere. */
export const isRepetitive = (text: string): boolean => createRepetitionDetector().see(text);
