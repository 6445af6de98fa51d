import { stringsInValue, readableParts, type Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { isReplaced } from '#shared/conversation/writes/replacement.ts';
import { cutHead } from '#shared/text/cut.ts';
import { answerId } from '../conversation/documents/paths.ts';

/** Of one tool output, and of all that the tools of one turn were asked and answered, UTF-16 units. */
const TOOL_OUTPUT_CHARACTERS = 20_000;
const TOOLS_CHARACTERS = 60_000;

/** Tools that repeat what stands in the transcript anyway. */
const ECHOES: ReadonlySet<string> = new Set(['recall_history', 'read_blob']);

export interface MessageText {
  id: string;
  role: 'user' | 'model';
  /** Not empty. */
  text: string;
  time: Date;
}

/** What of a finished or running turn can be searched. */
export interface TurnTexts {
  seq: number;
  /** When the turn began; default: when its first message was said. */
  time?: Date;
  /** Whether the model has seen it and it still counts: neither replaced nor failed nor erased. */
  inContext: boolean;
  /** Whether an edit or a regeneration has put another turn in its place. */
  isReplaced: boolean;
  /** Those that have text, in order. An erased message has none. */
  messages: readonly MessageText[];
  /** Calls and outputs of tools, the beginning of each; '' where there are none. */
  tools: string;
}

const textOf = (contents: readonly Content[]) =>
  contents
    .flatMap(readableParts)
    .flatMap(({ text }) => (text ? [text] : []))
    .join('\n');

function toolsOf(contents: readonly Content[]): string {
  const texts = contents.flatMap(({ parts }) =>
    parts.flatMap(({ functionCall, functionResponse }) => {
      const name = functionCall?.name ?? functionResponse?.name;
      if (name === undefined || ECHOES.has(name)) return [];
      const strings = stringsInValue(functionCall?.args ?? functionResponse?.response ?? {});
      return [cutHead([name, ...strings].join(' '), TOOL_OUTPUT_CHARACTERS)];
    }),
  );
  return cutHead(texts.join('\n'), TOOLS_CHARACTERS);
}

/** The texts of a turn, as its transcript shows them: without thoughts and media. */
export function textsOfTurn(turn: Turn): TurnTexts {
  const { seq, messageId, createTime, finishTime = createTime } = turn;
  const user = {
    id: messageId,
    role: 'user' as const,
    text: textOf([turn.user]),
    time: createTime,
  };
  const answer = {
    id: answerId(seq),
    role: 'model' as const,
    text: textOf(turn.contents),
    time: finishTime,
  };
  return {
    seq,
    time: createTime,
    inContext: turn.inContext,
    isReplaced: isReplaced(turn),
    messages: [user, answer].filter(({ text }) => text !== ''),
    tools: toolsOf(turn.contents),
  };
}
