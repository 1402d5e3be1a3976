// Times FasterPAM of the crate kmedoids, for peers.py: driver DIR RUNS takes DIR/cost.npy, a square matrix of float64 in C order, and
// the medoids to start from, DIR/start.txt. It prints the least CPU time of the runs, and the last result.
use std::{env, fs};
unsafe extern "C" {
    fn clock() -> std::ffi::c_long; // of this process, in microseconds
}
struct Square(usize, Vec<f64>);
impl kmedoids::ArrayAdapter<f64> for Square {
    #[inline]
    fn len(&self) -> usize { self.0 }
    #[inline]
    fn is_square(&self) -> bool { self.0 * self.0 == self.1.len() }
    #[inline]
    fn get(&self, x: usize, y: usize) -> f64 { self.1[x * self.0 + y] }
}
fn main() {
    let args: Vec<String> = env::args().collect();
    let raw = fs::read(format!("{}/cost.npy", args[1])).unwrap();
    let head = 10 + u16::from_le_bytes([raw[8], raw[9]]) as usize;
    let data: Vec<f64> = raw[head..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    let n = (data.len() as f64).sqrt() as usize;
    let cost = Square(n, data);
    let text = fs::read_to_string(format!("{}/start.txt", args[1])).unwrap();
    let start: Vec<usize> = text.split_whitespace().map(|s| s.parse().unwrap()).collect();
    let mut least = f64::INFINITY;
    let mut answer = (0.0, vec![]);
    for _ in 0..args[2].parse::<usize>().unwrap() {
        let mut medoids = start.clone();
        let begin = unsafe { clock() };
        let (loss, _, _, _): (f64, _, _, _) = kmedoids::fasterpam(&cost, &mut medoids, 100);
        least = least.min((unsafe { clock() } - begin) as f64 / 1e6);
        answer = (loss, medoids);
    }
    println!("{{\"seconds\": {least}, \"objective\": {}, \"medoids\": {:?}}}", answer.0, answer.1);
}
