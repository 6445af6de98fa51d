import type { Template } from './canary.ts';

const number: Template[] = [
  {
    sentence: 'By the way, the rain barrel behind my shed holds {n} litres.',
    question: 'How many litres does the rain barrel behind my shed hold?',
    needs: [['{n} litres', '{n} liters', '{n} litre', '{n} liter', '{n} l']],
  },
  {
    sentence: 'The parcel with the spare lamp weighs {n} grams, I have just put it on the scales.',
    question: 'What does the parcel with the spare lamp weigh?',
    needs: [['{n} grams', '{n} gram', '{n} g']],
  },
  {
    sentence: 'I measured the garden fence again: it is {n} metres long.',
    question: 'How long is the garden fence?',
    needs: [['{n} metres', '{n} meters', '{n} metre', '{n} meter', '{n} m']],
  },
];

const money: Template[] = [
  {
    sentence: 'The joiner wants {money} for the new staircase.',
    question: 'How much does the joiner want for the new staircase?',
    needs: [['{money}']],
  },
  {
    sentence: 'I have set {money} aside for the reunion of my choir.',
    question: 'How much have I set aside for the reunion of my choir?',
    needs: [['{money}']],
  },
  {
    sentence: 'My aunt lent me {money} for the boat, without interest.',
    question: 'How much did my aunt lend me for the boat?',
    needs: [['{money}']],
  },
];

const date: Template[] = [
  {
    sentence: 'My passport runs out on {date}.',
    question: 'When does my passport run out?',
    needs: [['{date}']],
  },
  {
    sentence: 'The chimney sweep comes on {date}.',
    question: 'On which day does the chimney sweep come?',
    needs: [['{date}']],
  },
  {
    sentence: "My sister's wedding is on {date}.",
    question: "When is my sister's wedding?",
    needs: [['{date}']],
  },
];

const time: Template[] = [
  {
    sentence: 'The ferry to the island leaves at {time}.',
    question: 'At what time does the ferry to the island leave?',
    needs: [['{time}']],
  },
  {
    sentence: 'My physiotherapist sees me on Thursdays at {time}.',
    question: 'At what time does my physiotherapist see me on Thursdays?',
    needs: [['{time}']],
  },
  {
    sentence: 'The bakery takes its bread out of the oven at {time}.',
    question: 'When does the bakery take its bread out of the oven?',
    needs: [['{time}']],
  },
];

const address: Template[] = [
  {
    sentence: 'You can reach my landlord at {email}.',
    question: 'What is the e-mail address of my landlord?',
    needs: [['{email}']],
  },
  {
    sentence: 'The seating plan of the choir is at {url}.',
    question: 'Under which link is the seating plan of the choir?',
    needs: [['{url}']],
  },
  {
    sentence: 'Invoices for the boat go to {email}.',
    question: 'To which address do invoices for the boat go?',
    needs: [['{email}']],
  },
];

const identifier: Template[] = [
  {
    sentence: 'The booking code of my night train is {code}.',
    question: 'What is the booking code of my night train?',
    needs: [['{code}']],
  },
  {
    sentence: 'The serial number of the dishwasher is {code}.',
    question: 'What is the serial number of the dishwasher?',
    needs: [['{code}']],
  },
  {
    sentence: 'My library card has the number {code}.',
    question: 'What is the number of my library card?',
    needs: [['{code}']],
  },
];

const person: Template[] = [
  {
    sentence: '{person} is the caretaker of our building.',
    question: 'Who is the caretaker of our building?',
    needs: [['{person}'], ['caretaker', 'janitor']],
  },
  {
    sentence: 'Our new treasurer in the choir is {person}.',
    question: 'Who is the new treasurer of the choir?',
    needs: [['{person}'], ['treasurer']],
  },
  {
    sentence: 'My dentist is called {person}.',
    question: 'What is the name of my dentist?',
    needs: [['{person}'], ['dentist']],
  },
];

const place: Template[] = [
  {
    sentence: 'The spare key lies in a locker at {place}.',
    question: 'Where is the locker with the spare key?',
    needs: [['{place}']],
  },
  {
    sentence: 'My grandmother grew up in {place}.',
    question: 'Where did my grandmother grow up?',
    needs: [['{place}']],
  },
  {
    sentence: 'We store the canoe in {place} over the winter.',
    question: 'Where do we store the canoe over the winter?',
    needs: [['{place}']],
  },
];

const quote: Template[] = [
  {
    sentence: 'The sign at my garden gate must read, word for word, "{phrase}".',
    question: 'What must the sign at my garden gate read?',
    needs: [['{phrase}']],
  },
  {
    sentence: 'My grandfather\'s toast was always "{phrase}", exactly these words.',
    question: "What were the exact words of my grandfather's toast?",
    needs: [['{phrase}']],
  },
  {
    sentence: 'The engraving on the ring says "{phrase}".',
    question: 'What does the engraving on the ring say?',
    needs: [['{phrase}']],
  },
];

const path: Template[] = [
  {
    sentence: 'My household accounts are in the file {path}.',
    question: 'In which file are my household accounts?',
    needs: [['{path}']],
  },
  {
    sentence: 'I keep the notes for the choir in {path}.',
    question: 'Where do I keep the notes for the choir?',
    needs: [['{path}']],
  },
  {
    sentence: 'The scan of the lease is saved as {path}.',
    question: 'Under which path is the scan of the lease saved?',
    needs: [['{path}']],
  },
];

/** What has a value of one kind. */
export const valueTemplates = {
  number,
  money,
  date,
  time,
  address,
  identifier,
  person,
  place,
  quote,
  path,
} as const;
