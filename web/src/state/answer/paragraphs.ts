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
