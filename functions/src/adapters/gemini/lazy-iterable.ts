/** The items of what `open` resolves to, opened when the first one is asked for; later ones cost nothing extra. */
export function opened<T>(open: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      let items: AsyncIterator<T> | undefined;
      const first = async () => {
        items = (await open())[Symbol.asyncIterator]();
        return items.next();
      };
      return {
        next: () => (items ? items.next() : first()),
        return: async () => (await items?.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
