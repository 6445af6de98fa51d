/** What texts look like of which the tokens are estimated; repeated to the length that is wanted. */
const samples = {
  ascii: 'The order AB-1042 of 12 May costs 1,204.50 dollars, she said. ',
  cjk: '注文は五月十二日に届きます。주문은 다음 주에 도착합니다。订单将于下周送达。',
  json: '{"id":1042,"items":[{"sku":"AB-7","price":12.5,"ok":true}],"note":"left at the door"}\n',
} as const;

export type TextKind = keyof typeof samples;

export const textKinds: readonly TextKind[] = ['ascii', 'cjk', 'json'];

/** A text of exactly so many UTF-16 units. */
export const estimateText = (kind: TextKind, characters: number): string =>
  samples[kind].repeat(Math.ceil(characters / samples[kind].length)).slice(0, characters);

export const megabytesOf = (text: string): number => Buffer.byteLength(text, 'utf8') / 1e6;
