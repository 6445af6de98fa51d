/** Figures as the page writes them. */
export const dollars = (value: number) => value.toFixed(value < 1 ? 3 : 2);
export const tokens = (value: number) => Math.round(value).toLocaleString('en-US');
export const percent = (share: number) => `${Math.round(100 * share)} %`;
/** How many times the optimum. */
export const times = (total: number, optimum: number) => (total / optimum).toFixed(2);

export const labelFor = ({ name }: { name: string }) => name.replaceAll('-', ' ');

/** 0 of nothing. */
export const mean = <Item>(items: readonly Item[], figure: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + figure(item), 0) / Math.max(1, items.length);

/** Tokens of the turns whose sizes are given. */
export const turnWeights = (turns: readonly (readonly number[])[]): number[] =>
  turns.map((sizes) => sizes.reduce((sum, size) => sum + size, 0));
