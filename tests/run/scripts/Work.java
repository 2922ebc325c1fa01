/* Work.java: compiled code, threads, exceptions that come from faults. */
public class Work {
    static int[] count = new int[4];

    static void work(int k) {
        for (int i = 0; i < 3000000; i++)
            count[k] += i ^ k;
    }

    public static void main(String[] args) throws Exception {
        long sum = 0;
        for (int i = 0; i < 30000000; i++)
            sum += i * (long) i % 7;
        System.out.println(sum);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < 4; i++) {
            final int k = i;
            threads[i] = new Thread(() -> work(k));
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        System.out.println(count[0] + count[1] + count[2] + count[3]);
        Object nothing = null;
        try {
            System.out.println(nothing.hashCode());
        } catch (NullPointerException e) {
            System.out.println("nothing");
        }
    }
}
