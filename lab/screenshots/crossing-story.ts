/** One exchange of the conversation that the screenshots show. */
interface Exchange {
  says: string;
  answer: string;
}

const plan = `Then I would split it into four legs:

1. Ijmuiden – Den Helder, 31 nm, with the tide
2. Den Helder – Vlieland, 29 nm
3. Vlieland – Norderney, 68 nm, the only night
4. Norderney – Cuxhaven, 45 nm

With 5.5 knots that is about 32 hours under way.`;

const list = `Three things are open:

- the flares expire on 2027-05-31
- the second reef line is chafed
- the harbour in Cuxhaven has not answered yet

Shall I put them into the order in which they can be done?`;

/** The same every day: what a summary may leave out. */
const asAlways =
  'The bilge was dry and the batteries were full in the evening. The crew took turns of three hours and nobody was sick. We cooked at noon, slept in the afternoon and read the forecast at six. The radio was on the working channel all the time and the lights were checked at dusk. The water tank was filled in the harbour and the deck was washed with salt water. The rig was looked over from the deck and nothing was loose.';

const log = (day: number, wind: string, note: string): Exchange => ({
  says: `Log of day ${day}: ${wind}, ${5 + day} hours under way, ${note}. ${asAlways}`,
  answer: `Noted: day ${day}, ${wind}, ${5 + day} hours under way, ${note}.`,
});

/** A crossing that is planned, with what must not be lost on the way. */
export const crossingStory: readonly Exchange[] = [
  {
    says: 'I am planning to sail from Ijmuiden to Cuxhaven in June. My boat is called Pixel, her registration is NL-48213, and she draws 1.65 m.',
    answer:
      'Good: Pixel, NL-48213, with a draught of 1.65 m. Through the Wadden Sea that leaves you the buoyed channels at half tide and above. How many of you are there, and how long do you want to be at sea at most?',
  },
  {
    says: 'Two of us. Please always give distances in nautical miles and never plan a leg of more than 12 hours without a harbour I can reach in the dark.',
    answer: plan,
  },
  {
    says: 'The berth in Vlieland is number 17, booked for 2027-06-12, and costs 28.50 euros a night.',
    answer: 'Berth 17 in Vlieland, 2027-06-12, 28.50 euros a night. That fits the second leg.',
  },
  {
    says: 'We decided to leave on 2027-06-10 at 05:30, one hour before high water.',
    answer: 'Departure on 2027-06-10 at 05:30. The tide is with you until about 11:40.',
  },
  { says: 'What is still open before we leave?', answer: list },
  log(1, 'wind north-west 4', 'moored in Den Helder at 12:10'),
  log(2, 'wind west 5', 'reefed once off Texel'),
  log(3, 'wind south-west 3', 'waited for the tide in Vlieland'),
  log(4, 'wind west 4', 'sailed through the night to Norderney'),
  log(5, 'wind north 3', 'rested in the harbour of Norderney'),
  log(6, 'wind north-west 5', 'left Norderney with the first light'),
  log(7, 'wind west 3', 'anchored behind Neuwerk'),
  log(8, 'no wind', 'waited for the flood'),
  {
    says: 'How far is the last leg, and when is the berth in Vlieland booked?',
    answer:
      'Norderney – Cuxhaven is 45 nm. The berth in Vlieland, number 17, is booked for 2027-06-12.',
  },
];

/** Other conversations, for the list. */
export const otherStories: readonly string[] = [
  'Which knots should I know for mooring?',
  'Translate the harbour rules of Norderney.',
  'Recipe for two pans on a gimballed stove',
];
