/** What nobody may reword: quoted words, code, links, addresses, paths and identifiers. */
const fixed =
  /`[^`]+`|"[^"]+"|“[^”]+”|「[^」]+」|『[^』]+』|《[^》]+》|https?:\/\/[^\s<>"）)]+|[\w.+-]+@[\w-]+\.[\w.-]+|(?<![\w/])(?:~|\.{1,2})?\/?(?:[\w.-]+\/)+[\w.-]+|\b\w*_\w+\b|\b[A-Z]+-?\d[\w-]*/gu;

const opening = '\uE000';
const closing = '\uE001';
const held = /\uE000(\d+)\uE001/gu;

/** `rewrite` on a text whose quotes, code, links, paths and identifiers stand there as marks that it leaves alone. */
export function outsideQuotes(text: string, rewrite: (text: string) => string): string {
  const kept: string[] = [];
  const masked = text.replace(fixed, (found) => `${opening}${kept.push(found) - 1}${closing}`);
  return rewrite(masked).replace(held, (_, index: string) => kept[Number(index)] ?? '');
}
