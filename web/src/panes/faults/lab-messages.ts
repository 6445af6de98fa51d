/** What the fault panel says: orders of a flower shop, each with a name and figures of its own. */
export interface LabMessage {
  text: string;
  /** What must not get lost. */
  name: string;
}

const FIRST_NUMBER = 7_010;

/** About 110 tokens, so that ten of them cross the lowest threshold that a conversation may have. */
export function labMessage(index: number): LabMessage {
  const name = `ORD-${FIRST_NUMBER + index * 7}`;
  const roses = 12 + index * 3;
  const price = `${20 + index * 6}.${50 + index} euros`;
  return {
    name,
    text:
      `Order ${name} is ${roses} roses for door number ${index + 31}, and costs ${price}. ` +
      `Its ribbon is written by hand, so please leave enough time for that in the morning. ` +
      `The paper around it should be the plain brown one, because the shiny one has torn twice this month. ` +
      `Whoever takes it there rings once, waits a moment, and leaves it beside the door if nobody opens. ` +
      `A card lies with it, closed, and stays closed, whatever the weather does to the envelope on the way.`,
  };
}

/** One sentence that takes a while to be said back, and the question that has it said. */
export const longStatement =
  'About the roses for the wedding I want to remember that they come from the hills behind the river, ' +
  'that they are cut before sunrise while the dew still lies on them, that they travel in deep buckets of ' +
  'cold water on the small green van, that Marta sorts them by length on the long table and takes off the ' +
  'lower leaves, that the white ones stand in the cellar until noon, that the red ones go into the window, ' +
  'and that the last twelve of them are always kept back for whoever comes in late and needs them most.';
export const longQuestion = 'What do I want to remember about the roses for the wedding?';
