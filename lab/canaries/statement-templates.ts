import type { Template } from './canary.ts';

const forbids = [
  'never',
  'not',
  'no',
  "don't",
  'avoid',
  'forbidden',
  'prohibited',
  'without',
  'only',
  'must not',
  'nobody',
];

const preference: Template[] = [
  {
    sentence: 'On night trains I only sleep in coach {n}, never mind the price.',
    question: 'In which coach do I sleep on night trains?',
    needs: [['coach {n}', 'carriage {n}', 'car {n}']],
  },
  {
    sentence: 'The only tea I like is the one from {place}.',
    question: 'Which tea do I like?',
    needs: [['{place}'], ['tea']],
  },
  {
    sentence: 'In hotels I always take room {n} if I can get it.',
    question: 'Which room do I always take in hotels?',
    needs: [['room {n}']],
  },
];

const prohibition: Template[] = [
  {
    sentence: 'Never call me before {time}, whatever happens.',
    question: 'Before what time must nobody call me?',
    needs: [['{time}'], [...forbids, 'after', 'earliest']],
  },
  {
    sentence: 'Never give my address to {person}.',
    question: 'To whom must my address never be given?',
    needs: [['{person}'], forbids],
  },
  {
    sentence: 'Do not ever delete anything in {path}.',
    question: 'In which place must nothing ever be deleted?',
    needs: [['{path}'], [...forbids, 'keep']],
  },
];

const decision: Template[] = [
  {
    sentence: 'We decided to hold the reunion in {place}, because {person} lends us the hall.',
    question: 'Where did we decide to hold the reunion, and why there?',
    needs: [['{place}'], ['{person}']],
  },
  {
    sentence: 'I have decided on the ladder {code}, because it carries {n} kilos.',
    question: 'Which ladder have I decided on, and why that one?',
    needs: [['{code}'], ['{n} kilos', '{n} kg', '{n} kilograms', '{n} kilo']],
  },
  {
    sentence: 'We will take the lodger {person}, because the rent of {money} pays for the roof.',
    question: 'Which lodger will we take, and what is the reason?',
    needs: [['{person}'], ['{money}']],
  },
];

const correction: Template[] = [
  {
    sentence: 'The hall for the reunion has room for {old} guests.',
    correction: 'I was wrong about the hall for the reunion: it has room for {n} guests.',
    question: 'For how many guests does the hall for the reunion have room?',
    needs: [['{n}']],
    outdated: '{old}',
  },
  {
    sentence: 'My new allotment has the number {old}.',
    correction: 'I mixed something up: my new allotment has the number {n}.',
    question: 'Which number does my new allotment have?',
    needs: [['{n}']],
    outdated: '{old}',
  },
  {
    sentence: 'The pin of the bicycle lock is {old}.',
    correction: 'I have changed the pin of the bicycle lock, it is {n} now.',
    question: 'What is the pin of the bicycle lock?',
    needs: [['{n}']],
    outdated: '{old}',
  },
];

const todo: Template[] = [
  {
    sentence: 'I still have to ask {person} whether the scaffold can stay.',
    question: 'Whom do I still have to ask whether the scaffold can stay?',
    needs: [['{person}'], ['scaffold', 'scaffolding']],
  },
  {
    sentence: 'Open question: who pays invoice {code} of the plumber?',
    question: "Which of the plumber's invoices is still an open question?",
    needs: [['{code}']],
  },
  {
    sentence: 'Remind me that the canoe rack in {place} still has to be measured.',
    question: 'Where does the canoe rack still have to be measured?',
    needs: [['{place}'], ['measure', 'measured', 'measuring']],
  },
];

/** What the user wants, forbids, decides, corrects or leaves open. */
export const statementTemplates = {
  preference,
  prohibition,
  decision,
  correction,
  'open question': todo,
} as const;
