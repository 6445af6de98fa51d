/** A piece of a message as it is laid out. */
interface Block {
  kind: 'paragraph' | 'code';
  text: string;
}

const FENCE = /^ {0,3}```/;

/**
 * Paragraphs, parted by empty lines, and code between fences of three backticks. A fence that is not closed
 * goes to the end: an answer is shown while it comes.
 */
export function splitParagraphs(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let isCode = false;
  const end = (): void => {
    const joined = lines.join('\n');
    if (isCode || joined.trim() !== '')
      blocks.push({ kind: isCode ? 'code' : 'paragraph', text: joined });
    lines = [];
  };
  for (const line of text.split('\n')) {
    if (FENCE.test(line)) {
      end();
      isCode = !isCode;
    } else if (!isCode && line.trim() === '') end();
    else lines.push(line);
  }
  end();
  return blocks;
}

/**
 * The sentences that a text has gained behind `length` characters, and how far they go; the last one only when
 * nothing follows. A screen reader is told of whole sentences, not of every piece that arrives.
 */
export function newSentences(
  text: string,
  { length, isWhole }: { length: number; isWhole: boolean },
): { sentences: string[]; length: number } {
  const rest = text.slice(length);
  if (rest.trim() === '') return { sentences: [], length };
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });
  const segments = Array.from(segmenter.segment(rest), ({ segment }) => segment);
  const finished = isWhole ? segments : segments.slice(0, -1);
  return {
    sentences: finished.map((sentence) => sentence.trim()).filter((sentence) => sentence !== ''),
    length: length + finished.join('').length,
  };
}
