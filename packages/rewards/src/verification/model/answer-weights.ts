/** Weights of the model of truthful answers. Written by `lab/train-verifiers.ts`. */
export const answerWeights = {
  bias: -0.74191,
  dense: {
    hedges: 1.3993,
    negates: 0.92621,
    length: -0.13681,
    sharedOfAnswer: 0.90155,
    sharedOfQuestion: -0.43419,
    yes: -0.14027,
    no: 0.10971,
    number: -0.19165,
    absolute: -0.71024,
  },
} as const;
