import type { Recording } from '../replay/recording.ts';

/** Question and answer of each turn: a made-up conversation, told in other words than it is asked about. */
const TURNS: readonly (readonly [user: string, model: string])[] = [
  ['Hi! I finally moved to Graz last weekend.', 'Welcome to Graz! How is the flat?'],
  ['Small, but it has a balcony. The rent is 780 euros.', 'That is fair for the old town.'],
  ['My landlady, Mrs Novak, keeps three parrots.', 'Three! I hope that they sleep at night.'],
  ['They wake me at 5:40 every morning.', 'Earplugs may help.'],
  ['I bought a second-hand piano from a school.', 'Lovely. What make is it?'],
  ['It is a Petrof, built in 1974.', 'Those have a warm sound.'],
  ['Two keys stuck, so Marek repaired them.', 'Is he a tuner by trade?'],
  ['No, a dentist. He learned it from his grandfather.', 'What an unusual pair of skills.'],
  ['Work is fine. We are writing a tool for bus timetables.', 'In which language?'],
  ['Mostly Kotlin. The release got delayed to 14 March.', 'Because of the tests?'],
  ['Because the licence of a library changed.', 'That happens more and more.'],
  ['I have been running again, by the river.', 'How far do you go?'],
  ['Eight kilometres on Sundays.', 'Good. Mind the ice.'],
  ['I slipped in December and broke my wrist.', 'Ouch. Left or right?'],
  ['The left one. It healed within five weeks.', 'Glad to hear it.'],
  ['My sister Ilse has twins now.', 'Congratulations! What are their names?'],
  ['Oskar and Paula. They were born in Trieste.', 'Beautiful names.'],
  ['We visited them and ate far too many sardines.', 'There are worse fates.'],
  ['Do you know a good book about lighthouses?', 'Try the one by Stevenson’s granddaughter.'],
  ['I am allergic to kiwis, by the way.', 'Noted: no recipes with kiwi.'],
  ['Cats are no problem though.', 'Good to know.'],
  ['I want to adopt one from the shelter.', 'Old or young?'],
  ['An elderly one. Her name is Biscuit.', 'Then you need a warm place for her.'],
  ['The vet said that she needs drops twice a day.', 'Set an alarm for them.'],
  ['My passport expires in August.', 'Renew it eight weeks before.'],
  ['The appointment is at the office in Paulustorgasse.', 'Take a photograph along.'],
  ['For the holidays we are thinking of Norway.', 'By train or by plane?'],
  ['Trains all the way, and the night ferry from Kiel.', 'It sails at two in the afternoon.'],
  ['The cabin costs 212 euros.', 'With breakfast?'],
  ['Without. 我们还想去奥斯陆看蒙克博物馆。', '蒙克博物馆周一也开门。'],
  ['My password manager is a mess.', 'Start with the accounts that matter.'],
  ['I will. First I have to clean the cellar.', 'Good luck.'],
  ['We found a crate of old radios down there.', 'Do they still work?'],
  ['One does. It only receives a station from Ljubljana.', 'Then you will learn Slovenian.'],
  ['Thanks for listening today.', 'Any time.'],
  ['What shall I cook tonight?', 'Soup, with what is left.'],
];

/** Question, and the turns (from 1) that hold the evidence. */
const PROBES: readonly (readonly [question: string, ...evidence: number[]])[] = [
  ['How much does the flat cost each month?', 2],
  ['Who owns the parrots?', 3],
  ['When do the birds wake the user up?', 4],
  ['Which brand of piano did the user buy?', 6],
  ['Who fixed the piano?', 7],
  ['What does Marek do for a living?', 8],
  ['Why was the release delayed?', 11],
  ['How far does the user run?', 13],
  ['Which wrist did the user break?', 15],
  ['What are the twins of Ilse called?', 17],
  ['Which allergies does the user have?', 20],
  ['What is the name of the cat to be adopted?', 23],
  ['How often does the cat need her drops?', 24],
  ['When does the passport expire?', 25],
  ['Where will the user travel on holiday?', 27],
  ['Which ferry will they take?', 28],
  ['What does a cabin on the ferry cost?', 29],
  ['去奥斯陆看什么博物馆', 30],
  ['What was found in the cellar?', 33],
  ['Which station does the radio receive?', 34],
];

const text = (role: 'user' | 'model', said: string) => ({ role, parts: [{ text: said }] });

/** For the gate in the tests: small, ours, and never looked at when a weight is chosen. */
export const recallFixture: Recording = {
  id: 'fixture',
  turns: TURNS.flatMap(([user, model]) => [text('user', user), text('model', model)]),
  probes: PROBES.map(([question, ...evidence], index) => ({
    id: `p${index + 1}`,
    question,
    answer: 'in the turns',
    evidenceTurnIndexes: evidence.map((turn) => 2 * (turn - 1)),
  })),
};
