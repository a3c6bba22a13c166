/** ln Γ(x) for x > 0, by Lanczos' series with g = 7. Relative error below 1e-14. */
function logGamma(x: number): number {
  const series = lanczos.reduce(
    (sum, coefficient, k) => sum + coefficient / (x + k),
    0.999_999_999_999_809_93,
  );
  const shifted = x + 6.5;
  return (x - 0.5) * Math.log(shifted) - shifted + Math.log(Math.sqrt(2 * Math.PI) * series);
}

const lanczos = [
  676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_13, -176.615_029_162_140_59,
  12.507_343_278_686_905, -0.138_571_095_265_720_12, 9.984_369_578_019_571_6e-6, 1.505_632_735_149_311_6e-7,
];

/**
 * Regularised incomplete beta function `I_x(a, b)`, by its continued fraction.
 *
 * @see https://dlmf.nist.gov/8.17.E22
 */
export function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - regularizedBeta(1 - x, b, a);
  const logFront = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(logFront) * betaFraction(x, a, b)) / a;
}

/** The continued fraction of the incomplete beta function, by the method of Lentz. */
function betaFraction(x: number, a: number, b: number): number {
  const nonzero = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let numerator = 1;
  let denominator = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let fraction = denominator;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let change = 1;
    for (const term of [even, odd]) {
      denominator = 1 / nonzero(1 + term * denominator);
      numerator = nonzero(1 + term / numerator);
      change = denominator * numerator;
      fraction *= change;
    }
    if (Math.abs(change - 1) < 1e-15) break;
  }
  return fraction;
}

/**
 * The t with `P(|T| ≤ t) = confidence` for Student's distribution; the normal distribution for infinite degrees of freedom.
 */
export function twoSidedQuantile(confidence: number, degrees: number): number {
  if (degrees > 1e6) return normalQuantile((1 + confidence) / 2);
  // P(|T| > t) = I_x(ν/2, 1/2) with x = ν / (ν + t²), which grows with x.
  let [low, high] = [0, 1];
  for (let step = 0; step < 200 && high - low > 1e-16 * high; step++) {
    const middle = (low + high) / 2;
    if (regularizedBeta(middle, degrees / 2, 0.5) > 1 - confidence) high = middle;
    else low = middle;
  }
  const x = (low + high) / 2;
  return Math.sqrt((degrees * (1 - x)) / x);
}

/**
 * Quantile of the normal distribution for probabilities from 0.5 to 1. Relative error below 1.2e-9.
 *
 * @see Acklam 2003, "An algorithm for computing the inverse normal cumulative distribution function"
 */
function normalQuantile(probability: number): number {
  const polynomial = (coefficients: readonly number[], at: number) =>
    coefficients.reduce((sum, coefficient) => sum * at + coefficient, 0);
  if (probability > 0.975_75) {
    const q = Math.sqrt(-2 * Math.log(1 - probability));
    return -polynomial(tailAbove, q) / polynomial(tailBelow, q);
  }
  const q = probability - 0.5;
  return (polynomial(centerAbove, q * q) * q) / polynomial(centerBelow, q * q);
}

const centerAbove = [
  -39.696_830_286_653_76, 220.946_098_424_520_5, -275.928_510_446_968_7, 138.357_751_867_269,
  -30.664_798_066_147_16, 2.506_628_277_459_239,
];
const centerBelow = [
  -54.476_098_798_224_06, 161.585_836_858_040_9, -155.698_979_859_886_6, 66.801_311_887_719_72,
  -13.280_681_552_885_72, 1,
];
const tailAbove = [
  -0.007_784_894_002_430_293, -0.322_396_458_041_136_5, -2.400_758_277_161_838, -2.549_732_539_343_734,
  4.374_664_141_464_968, 2.938_163_982_698_783,
];
const tailBelow = [
  0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416, 1,
];

/** P(X ≥ successes) of a binomial distribution. */
export function binomialTail(successes: number, trials: number, probability: number): number {
  return successes <= 0 ? 1 : regularizedBeta(probability, successes, trials - successes + 1);
}
